//! The widget in somebody else's page, on another origin.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `ways` | the three ways to embed, and the two widgets |
//! | `policies` | strict policies, sandboxes, lists of origins |
//! | `hostile` | hostile pages, hostile feeds, messages that are none of ours |
//! | `shop` | the demo shop and the builder |

mod hostile;
mod policies;
mod shop;
mod ways;
