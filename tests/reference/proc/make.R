# Reference values from pROC (Robin et al. 2011), computed from data simulated with a fixed seed.
# Run in this directory:  Rscript make.R   (Debian: apt-get install r-base-core r-cran-proc)
# Writes data.csv (one row a case: set, label, three scores) and values.csv (set, quantity, value).
suppressMessages(library(pROC))
set.seed(20240501, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")

# set: rows, share of positives, distinct values that scores are rounded to (Inf: no ties)
designs <- list(
  tiny = c(10, 0.5, Inf), tiny_ties = c(12, 0.4, 2), small = c(50, 0.3, Inf), small_ties = c(60, 0.5, 1),
  rare = c(300, 0.05, 4), medium = c(500, 0.5, Inf), medium_ties = c(800, 0.2, 3), large = c(2000, 0.3, 8),
  largest = c(5000, 0.1, 20)
)

simulate <- function(n, share, steps) {
  label <- rep(c(1, 0), c(round(n * share), n - round(n * share)))[sample.int(n)]
  common <- rnorm(n)
  score <- sapply(c(a = 0.8, b = 1.2, c = 0.5), function(shift) shift * label + 0.6 * common + 0.8 * rnorm(n))
  if (is.finite(steps)) score <- round(score * steps) / steps
  data.frame(label = label, score)
}

values <- list()
record <- function(set, quantity, value) {
  values[[length(values) + 1]] <<- data.frame(set, quantity, value = sprintf("%.17g", as.numeric(value)))
}

curve <- function(data, model) roc(data$label, data[[model]], levels = c(0, 1), direction = "<", quiet = TRUE)

rows <- list()
for (set in names(designs)) {
  data <- do.call(simulate, as.list(designs[[set]]))
  rows[[set]] <- cbind(set = set, data)
  curves <- sapply(c("a", "b", "c"), function(model) curve(data, model), simplify = FALSE)
  for (model in names(curves)) {
    record(set, paste("auc", model), auc(curves[[model]]))
    record(set, paste("var", model), var(curves[[model]], method = "delong"))
    interval <- ci.auc(curves[[model]], method = "delong", conf.level = 0.95)
    record(set, paste("low", model), interval[1])
    record(set, paste("high", model), interval[3])
    record(set, paste("high90", model), ci.auc(curves[[model]], method = "delong", conf.level = 0.90)[3])
    for (part in c(0.1, 0.5)) {
      area <- auc(curves[[model]], partial.auc = c(1, 1 - part), partial.auc.focus = "specificity")
      record(set, paste("pauc", part, model), area)
    }
  }
  for (pair in list(c("a", "b"), c("a", "c"), c("b", "c"))) {
    name <- paste(pair, collapse = " ")
    first <- curves[[pair[1]]]
    second <- curves[[pair[2]]]
    record(set, paste("cov", name), cov(first, second, method = "delong"))
    for (alternative in c("two.sided", "less", "greater")) {
      test <- roc.test(first, second, method = "delong", paired = TRUE, alternative = alternative)
      record(set, paste("paired p", alternative, name), test$p.value)
    }
    test <- roc.test(first, second, method = "delong", paired = TRUE)
    record(set, paste("paired z", name), test$statistic)
    record(set, paste("paired low", name), test$conf.int[1])
    record(set, paste("paired high", name), test$conf.int[2])
    # Unpaired: the first half of the rows against the second half, where both hold several of each class.
    half <- seq_len(nrow(data)) <= nrow(data) / 2
    if (min(table(data$label, half)) >= 2) {
      test <- suppressWarnings(
        roc.test(curve(data[half, ], pair[1]), curve(data[!half, ], pair[2]), method = "delong", paired = FALSE)
      )
      record(set, paste("unpaired d", name), test$statistic)
      record(set, paste("unpaired df", name), test$parameter)
      record(set, paste("unpaired p", name), test$p.value)
      if (!is.null(test$conf.int)) {
        record(set, paste("unpaired low", name), test$conf.int[1])
        record(set, paste("unpaired high", name), test$conf.int[2])
      }
    }
  }
}

# Monte Carlo p-values of the permutation test of whole curves: agree within their error only.
for (set in c("small", "medium")) {
  data <- rows[[set]]
  test <- roc.test(curve(data, "a"), curve(data, "b"), method = "venkatraman", boot.n = 4000, progress = "none")
  record(set, "venkatraman e a b", test$statistic)
  record(set, "venkatraman p a b", test$p.value)
  test <- suppressWarnings(roc.test(
    curve(data, "a"), curve(data, "b"), method = "venkatraman", paired = FALSE, boot.n = 4000, progress = "none"
  ))
  record(set, "venkatraman unpaired p a b", test$p.value)
}

# Planning for one curve against 1/2 (Obuchowski 2004).
for (area in c(0.6, 0.7, 0.8)) for (ratio in c(1, 4)) {
  plan <- power.roc.test(auc = area, sig.level = 0.05, power = 0.9, kappa = ratio)
  record("planning", paste("cases", area, ratio), plan$ncases)
  plan <- power.roc.test(auc = area, ncases = 40, ncontrols = 40 * ratio, sig.level = 0.05)
  record("planning", paste("power", area, ratio), plan$power)
}

# The binormal curve fitted by least squares on normal-deviate axes (pROC regresses the false-positive side).
for (set in c("medium", "large")) {
  record(set, "smooth auc b", auc(smooth(curve(rows[[set]], "b"), method = "binormal", n = 20001)))
}

write.csv(do.call(rbind, rows), "data.csv", row.names = FALSE, quote = FALSE)
write.csv(do.call(rbind, values), "values.csv", row.names = FALSE, quote = FALSE)
cat(sprintf("%s, pROC %s\n", R.version.string, packageVersion("pROC")), file = "version.txt")
