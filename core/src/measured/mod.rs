//! Measured results: rows in the form of `core/data/measured/*.csv`, what the estimator says of
//! each, and how far off it is.
