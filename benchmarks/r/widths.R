# Intervals of R packages for the samples that widths.py writes. Arguments: the folder of the samples.
# Each file is named after its figure and holds the samples of one design. Writes a table of limits for each file.
suppressPackageStartupMessages({
  library(pROC); library(survey); library(rms); library(survival); library(riskRegression)
})
BOOTSTRAPS <- 400

roc_of <- function(d, score = "a") roc(d$y, d[[score]], levels = c(0, 1), direction = "<", quiet = TRUE)
ends <- function(x) as.numeric(x)[c(1, length(x))]

share_of <- function(d, ids, weights) {
  design <- svydesign(ids = ids, weights = weights, data = d)
  ends(attr(svyciprop(~I(a >= 0.5), subset(design, y == 1), method = "logit"), "ci"))
}

regression <- function(d, term) {
  d$logit <- qlogis(d$a)
  fit <- lrm(y ~ logit, data = d)
  unname(coef(fit)[term] + c(-1, 1) * qnorm(0.975) * sqrt(diag(vcov(fit)))[term])
}

score_of <- function(d, formula, metric, ...) {
  table <- Score(list(m = d$a), formula = formula, data = d, metrics = metric, null.model = FALSE, ...)[[
    if (metric == "auc") "AUC" else "Brier"]]$score
  c(table$lower[1], table$upper[1])
}

methods <- list(
  "AUC" = function(d) ends(ci.auc(roc_of(d), method = "delong")),
  "difference of AUC" = function(d) -rev(ends(roc.test(roc_of(d), roc_of(d, "b"), method = "delong")$conf.int)),
  "partial AUC, fpr up to 0.1" = function(d) {
    area <- roc(d$y, d$a, levels = c(0, 1), direction = "<", quiet = TRUE, partial.auc = c(1, 0.9))
    ends(ci.auc(area, method = "bootstrap", boot.n = BOOTSTRAPS, progress = "none"))
  },
  "tpr at fpr 0.1" = function(d)
    ends(ci.se(roc_of(d), specificities = 0.9, boot.n = BOOTSTRAPS, progress = "none")),
  "fpr at tpr 0.9" = function(d)
    1 - rev(ends(ci.sp(roc_of(d), sensitivities = 0.9, boot.n = BOOTSTRAPS, progress = "none"))),
  "tpr of groups" = function(d) share_of(d, ~g, ~w),
  "tpr of weighted rows" = function(d) share_of(d, ~1, ~w),
  "Brier score" = function(d) score_of(d, y ~ 1, "brier"),
  "calibration slope" = function(d) regression(d, 2),
  "calibration intercept" = function(d) regression(d, 1),
  "AUC at a horizon" = function(d) score_of(d, Surv(time, event) ~ 1, "auc", times = 1, cens.model = "km"),
  "Brier score at a horizon" = function(d) score_of(d, Surv(time, event) ~ 1, "brier", times = 1, cens.model = "km")
)

for (file in list.files(commandArgs(TRUE)[1], "[.]csv$", full.names = TRUE)) {
  set.seed(1)
  rows <- read.csv(file)
  method <- methods[[sub(" - .*", "", basename(file))]]
  limits <- t(sapply(split(rows, rows$sample), method))
  write.table(limits, sub("csv$", "limits", file), row.names = FALSE, col.names = FALSE)
}
