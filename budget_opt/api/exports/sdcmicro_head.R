#
# It reproduces the matrices, NOT the guarantee: R's random numbers are not cryptographic, and who knows or
# guesses the seed has the originals. For a release that must keep its promise use: budget-opt randomize.
#
#   source("THIS FILE", encoding = "UTF-8")
#   budget_opt_matrices$income                    the matrix of an attribute, rows the truth, columns the report
#   budget_opt_matrices$`smoker + income`         of a cluster: that of its members' labels, pasted
#   data <- read.csv("data.csv", check.names = FALSE, na.strings = "", colClasses = "character",
#                    fileEncoding = "UTF-8")     as text: R would read 01 as 1, T as TRUE, 1e5 as 100000
#   released <- budget_opt_pram(data)             needs sdcMicro; rows in the order of data
#   write.csv(released, "released.csv", row.names = FALSE, na = "", fileEncoding = "UTF-8")
#
# Verify the released table against the originals (budget-opt verify) before you shuffle its rows:
#
#   released <- released[sample(nrow(released)), , drop = FALSE]
#
# `units` is P(report = one given other category) in units of 2^-53, rounded up. Whole numbers of them add up
# without rounding, so every row and every column sums to exactly 1.
