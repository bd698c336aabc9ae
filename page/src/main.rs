//! Starts the page.

fn main() {
    cardfit_page::start();
}
