names(budget_opt_attributes) <- vapply(budget_opt_attributes, function(attribute) attribute$name, "")
names(budget_opt_variables) <- vapply(budget_opt_variables, function(variable) variable$name, "")

# The levels of a variable: an attribute's labels, or those of a cluster's members pasted, the last one fastest.
budget_opt_levels <- function(variable) {
  labels <- lapply(unname(budget_opt_attributes[variable$members]), function(attribute) attribute$labels)
  Reduce(function(left, right) as.vector(t(outer(left, right, paste, sep = variable$separator))), labels)
}

# `units` is P(report = one given other category) in units of 2^-53, rounded up; one number where it is the same
# for all. Whole numbers of them add up without rounding, so every row sums to exactly 1, and every column where
# it is the same for all.
budget_opt_matrix <- function(variable) {
  labels <- budget_opt_levels(variable)
  r <- length(labels)
  units <- rep_len(variable$units, r)
  P <- matrix(rep(units / 2^53, each = r), r, r, dimnames = list(labels, labels))
  diag(P) <- (2^53 - (sum(units) - units)) / 2^53
  P
}

budget_opt_matrices <- lapply(budget_opt_variables, budget_opt_matrix)

# The column as a factor with the labels of a report; stops where a cell is no declared category, and where R has
# made something else of the categories than they are: 1 is not 01, and TRUE is not T.
budget_opt_factor <- function(column, attribute) {
  made <- if (is.numeric(column)) "numbers" else if (is.logical(column)) "truth values" else "text"
  if (!all(is.na(column)) && !(made %in% c("text", attribute$held))) {
    stop(sprintf("%s: holds %s, and its categories are %s: read the table with colClasses = \"character\"",
                 attribute$name, made, attribute$held))
  }
  if (!is.null(attribute$edges) && made == "text") {
    number <- grepl("^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$", column)
    if (any(number)) {
      if (!all(number | is.na(column))) {
        stop(sprintf("%s: some cells are numbers, and some are not", attribute$name))
      }
      column <- as.numeric(as.character(column))
    }
  }
  if (!is.null(attribute$edges) && is.numeric(column)) {
    bin <- findInterval(column, attribute$edges, rightmost.closed = TRUE)
    bin[!is.finite(column) | bin == 0 | bin == length(attribute$edges)] <- NA
    text <- ifelse(is.na(column), NA, ifelse(is.na(bin), "", attribute$cells[bin]))
  } else if (is.numeric(column)) {
    text <- ifelse(is.na(column), NA, ifelse(column == round(column), sprintf("%.0f", column), ""))
  } else {
    text <- as.character(column)
    if (is.logical(column)) text <- tolower(text)
  }
  if (!is.null(attribute$missing)) text[is.na(text)] <- attribute$missing
  if (!is.null(attribute$unseen)) text[!is.na(text) & !(text %in% attribute$cells)] <- attribute$unseen
  unknown <- sum(!(text %in% attribute$cells))
  if (unknown > 0) {
    stop(sprintf("%s: %d cells are none of the declared categories", attribute$name, unknown))
  }
  if (!is.null(attribute$codes)) text <- attribute$labels[attribute$codes[match(text, attribute$cells)]]
  factor(text, levels = attribute$labels)
}

# The truth of a variable as one factor.
budget_opt_truth <- function(data, variable) {
  code <- rep_len(0, nrow(data))
  for (name in variable$members) {
    attribute <- budget_opt_attributes[[name]]
    code <- code * length(attribute$labels) + as.integer(budget_opt_factor(data[[name]], attribute)) - 1
  }
  levels <- budget_opt_levels(variable)
  factor(levels[code + 1], levels = levels)
}

# The release of a data frame: attributes randomized by sdcMicro, public columns as they are, no other column.
budget_opt_pram <- function(data, pram = sdcMicro::pram) {
  data <- as.data.frame(data)
  absent <- setdiff(c(names(budget_opt_attributes), budget_opt_public), names(data))
  if (length(absent) > 0) stop(paste("columns are absent:", paste(absent, collapse = ", ")))
  released <- data[names(data) %in% c(names(budget_opt_attributes), budget_opt_public)]
  for (variable in budget_opt_variables) {
    truth <- budget_opt_truth(data, variable)
    report <- pram(truth, pd = budget_opt_matrices[[variable$name]])[["x_pram"]]
    code <- as.integer(factor(report, levels = levels(truth))) - 1
    for (name in rev(variable$members)) {
      attribute <- budget_opt_attributes[[name]]
      r <- length(attribute$labels)
      released[[name]] <- factor(attribute$labels[code %% r + 1], levels = setdiff(attribute$labels, attribute$empty))
      code <- code %/% r
    }
  }
  released
}
