# Evaluates each line of FOLDER/asked.txt on the columns of FOLDER/data.csv: Rscript make.R FOLDER LIBRARY
arguments <- commandArgs(TRUE)
suppressMessages(library(arguments[2], character.only = TRUE))
suppressMessages(attach(read.csv(file.path(arguments[1], "data.csv"))))
cat(arguments[2], " ", as.character(packageVersion(arguments[2])), ", R ", as.character(getRversion()), "\n", sep = "")
roc <- function(...) pROC::roc(..., levels = c(0, 1), direction = "<", quiet = TRUE)
for (asked in readLines(file.path(arguments[1], "asked.txt")))
  cat(sprintf("%.17g", as.numeric(suppressWarnings(suppressMessages(eval(parse(text = asked)))))), "\n", sep = "")
