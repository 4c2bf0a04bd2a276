# LVQ1 and OLVQ1 of R's package class: Rscript r_class.R FOLDER METHOD ALPHA STEPS SEED
# Reads samples.csv and codebook.csv (features, then the class), writes sequence.csv (rows in the order of the steps,
# from 1) and result.csv (features of the codebook after training), with all digits.
library(class)
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
table <- function(name) as.matrix(read.csv(file.path(folder, name), header = FALSE))
samples <- table("samples.csv")
start <- table("codebook.csv")
last <- ncol(samples)
classes <- factor(samples[, last])
codebook <- list(x = start[, -last, drop = FALSE], cl = factor(start[, last], levels = levels(classes)))
method <- list(lvq1 = lvq1, olvq1 = olvq1)[[arguments[2]]]
steps <- as.integer(arguments[4])
set.seed(as.integer(arguments[5]))
sequence <- sample(nrow(samples), steps, TRUE) # the first that the methods draw
set.seed(as.integer(arguments[5]))
result <- method(samples[, -last, drop = FALSE], classes, codebook, niter = steps, alpha = as.numeric(arguments[3]))
write(sequence, file.path(folder, "sequence.csv"), ncolumns = 1)
write.table(format(result$x, digits = 17), file.path(folder, "result.csv"), sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE)
