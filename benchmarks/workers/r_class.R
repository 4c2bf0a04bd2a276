# Trains or predicts with R's package class: folder method N n prototypes epochs start.
# Reads X.bin and y.bin, writes codebook.bin and labels.bin (or predictions.bin), prints the CPU seconds of the
# start and of the call, the mean of calls that take 0.2 s together.
library(class)
given <- commandArgs(trailingOnly = TRUE)
method <- given[2]
numbers <- as.integer(given[3:7])
N <- numbers[1]; n <- numbers[2]; size <- numbers[3]; epochs <- numbers[4]; start <- numbers[5]
path <- function(name) file.path(given[1], name)
X <- matrix(readBin(path("X.bin"), "double", N * n), N, n)
cpu <- function(call) { used <- system.time(call, gcFirst = FALSE); used[["user.self"]] + used[["sys.self"]] }
mean_seconds <- function(call) {
    # the clock has steps of a millisecond: count calls until they take long enough
    calls <- 0; used <- 0
    while (used < 0.2 && calls < 200) { used <- used + cpu(call()); calls <- calls + 1 }
    used / calls
}
set.seed(0)
if (method == "predict") {
    codebook <- list(x = matrix(readBin(path("codebook.bin"), "double", size * n), size, n),
                     cl = factor(readBin(path("labels.bin"), "integer", size)))
    seconds <- mean_seconds(function() found <<- lvqtest(codebook, X))
    writeBin(as.integer(as.character(found)), path("predictions.bin"))
    cat(0, seconds, "\n")
} else {
    y <- factor(readBin(path("y.bin"), "integer", N))
    classes <- nlevels(y)
    begin <- function() {
        if (size == 0) codebook <<- lvqinit(X, y)
        else if (start == 1) codebook <<- lvqinit(X, y, size = size, prior = rep(1 / classes, classes))
        else {
            rows <- unlist(lapply(split(seq_len(N), y), function(own) sample(own, min(length(own), size / classes))))
            codebook <<- list(x = X[rows, , drop = FALSE], cl = y[rows])
        }
    }
    first <- mean_seconds(begin)
    train <- function() {
        if (method == "olvq1") trained <<- olvq1(X, y, codebook)
        else trained <<- lvq1(X, y, codebook, niter = epochs * N)
    }
    seconds <- mean_seconds(train)
    writeBin(as.double(trained$x), path("codebook.bin"))
    writeBin(as.integer(as.character(trained$cl)), path("labels.bin"))
    cat(first, seconds, "\n")
}
