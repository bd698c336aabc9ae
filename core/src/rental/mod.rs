//! What renting costs.
