budget_opt_matrix <- function(attribute) {
  labels <- attribute$labels
  r <- length(labels)
  P <- matrix(attribute$units / 2^53, r, r, dimnames = list(labels, labels))
  diag(P) <- (2^53 - (r - 1) * attribute$units) / 2^53
  P
}

budget_opt_matrices <- lapply(budget_opt_attributes, budget_opt_matrix)
names(budget_opt_matrices) <- vapply(budget_opt_attributes, function(attribute) attribute$name, "")

# The column as a factor with the declared levels; stops where a cell is none of them, and where R has made
# something else of the categories than they are: 1 is not 01, and TRUE is not T.
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
    text <- ifelse(is.na(column), NA, ifelse(is.na(bin), "", attribute$labels[bin]))
  } else if (is.numeric(column)) {
    text <- ifelse(is.na(column), NA, ifelse(column == round(column), sprintf("%.0f", column), ""))
  } else {
    text <- as.character(column)
    if (is.logical(column)) text <- tolower(text)
  }
  if (!is.null(attribute$missing)) text[is.na(text)] <- attribute$missing
  if (!is.null(attribute$unseen)) text[!is.na(text) & !(text %in% attribute$labels)] <- attribute$unseen
  unknown <- sum(!(text %in% attribute$labels))
  if (unknown > 0) {
    stop(sprintf("%s: %d cells are none of the declared categories", attribute$name, unknown))
  }
  factor(text, levels = attribute$labels)
}

# The release of a data frame: attributes randomized by sdcMicro, public columns as they are, no other column.
budget_opt_pram <- function(data, pram = sdcMicro::pram) {
  data <- as.data.frame(data)
  absent <- setdiff(c(names(budget_opt_matrices), budget_opt_public), names(data))
  if (length(absent) > 0) stop(paste("columns are absent:", paste(absent, collapse = ", ")))
  released <- data[names(data) %in% c(names(budget_opt_matrices), budget_opt_public)]
  for (attribute in budget_opt_attributes) {
    truth <- budget_opt_factor(data[[attribute$name]], attribute)
    report <- pram(truth, pd = budget_opt_matrices[[attribute$name]])[["x_pram"]]
    if (!is.null(attribute$missing)) {
      report <- factor(report, levels = setdiff(attribute$labels, attribute$missing))
    }
    released[[attribute$name]] <- report
  }
  released
}
