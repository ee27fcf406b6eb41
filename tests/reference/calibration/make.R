# Figures of R's lowess, loess and glm for three data sets, in the conventions of val.prob (Harrell, rms) and of
# Austin & Steyerberg (2019). Written by R 4.2.2: Rscript make.R; read by tests/calibration/test_published_conventions.py.
options(digits = 17)
figures <- function(p, y) {
  n <- length(y)
  smooth <- approx(lowess(p, y, iter = 0), xout = p, ties = mean)$y
  quadratic <- loess(y ~ p)
  index <- function(curve) {
    d <- abs(p - curve)
    c(mean(d), quantile(d, c(.5, .9), names = FALSE), max(d))
  }
  l <- qlogis(p)
  fit <- glm(y ~ l, family = binomial, control = list(epsilon = 1e-14, maxit = 100))
  large <- glm(y ~ offset(l), family = binomial, control = list(epsilon = 1e-14, maxit = 100))
  null <- glm(y ~ 1, family = binomial, control = list(epsilon = 1e-14, maxit = 100))
  dev <- function(q) -2 * sum(y * log(q) + (1 - y) * log(1 - q))
  lr <- null$deviance - dev(p)  # as rms 6.5 has it: of the probabilities as they are
  rank <- wilcox.test(p[y == 1], p[y == 0], exact = FALSE)$statistic / (sum(y) * sum(1 - y))
  c(n = n, C = unname(rank), Dxy = unname(2 * rank - 1),
    R2 = (1 - exp(-lr / n)) / (1 - exp(-null$deviance / n)), D = (lr - 1) / n,
    U = (dev(p) - fit$deviance - 2) / n, Q = (lr - 1) / n - (dev(p) - fit$deviance - 2) / n,
    Brier = mean((p - y)^2), Intercept = coef(fit)[[1]], Slope = coef(fit)[[2]], in_the_large = coef(large)[[1]],
    Sz = sum((y - p) * (1 - 2 * p)) / sqrt(sum((1 - 2 * p)^2 * p * (1 - p))),
    val = index(smooth), austin = index(fitted(quadratic)),
    lowess = smooth[round(seq(1, n, length.out = 25))], loess = fitted(quadratic)[round(seq(1, n, length.out = 25))])
}
for (name in c("smooth", "tied", "rare")) {
  data <- read.csv(paste0(name, ".csv"), colClasses = "numeric")
  found <- figures(data$p, data$y)
  write.csv(data.frame(name = names(found), value = format(found, digits = 17, trim = TRUE)),
            paste0(name, "_r.csv"), row.names = FALSE, quote = FALSE)
}
