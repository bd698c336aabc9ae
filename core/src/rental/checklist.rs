//! What to ask a platform before renting, with the scenario's own numbers.

use serde::Serialize;

/// What is known of the job and the offer that the checklist is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Memory that one card must hold, bytes, upper end.
    pub needed_bytes: f64,
    /// Memory that programs see on a whole card, bytes.
    pub usable_bytes: f64,
    /// Cards.
    pub cards: u32,
    /// Machines.
    pub machines: u32,
    /// Whether the maker has a link of its own between such cards, on the board or as a bridge.
    pub linked: bool,
    /// Ways over which each layer is split; such cards exchange data at every layer.
    pub tensor_ways: u32,
    /// Share of the time that passes with exchanging data between cards, 0 to 1.
    pub communication_share: f64,
    /// Bytes of the weights.
    pub model_bytes: f64,
    /// Bytes of training data read in a second; 0 where none is.
    pub data_bytes_per_s: f64,
    /// Bytes of one checkpoint; 0 where none is written.
    pub checkpoint_bytes: f64,
    /// Hours that the job takes, or of a month of a service.
    pub hours: f64,
    /// Cost of an hour.
    pub cost_per_hour: f64,
    /// Cost of the whole.
    pub cost: f64,
    /// GB to upload.
    pub upload_gb: f64,
}

/// One line of the list: what to check, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "check")]
pub enum Check {
    /// The memory is the renter's alone: so much is needed of so much.
    ExclusiveMemory {
        /// GiB that the job needs on a card.
        needed_gib: f64,
        /// GiB that programs must see.
        usable_gib: f64,
    },
    /// The link between cards.
    CardLink {
        /// Cards that exchange data at every layer; 1: none.
        tensor_ways: u32,
        /// Whether such cards can have a link of their own beside the bus.
        linked: bool,
        /// Share of the time spent on it.
        share: f64,
    },
    /// The network between machines.
    Network {
        /// Machines.
        machines: u32,
    },
    /// Speed of the disk.
    DiskSpeed {
        /// MB/s that feed the job.
        feed_mb_s: f64,
        /// GB of weights.
        model_gb: f64,
        /// MB/s that load them in a minute.
        load_mb_s: f64,
    },
    /// Room on the disk: weights, a few checkpoints, data.
    DiskSpace {
        /// GB.
        gb: f64,
    },
    /// Where it stands: what has to be uploaded.
    Region {
        /// GB to upload and fetch.
        gb: f64,
        /// Hours at 100 Mbit/s.
        hours_at_100_mbit_s: f64,
    },
    /// What an availability means.
    Sla {
        /// Hours of the job or the month.
        hours: f64,
        /// Minutes that it may be down at 99.9 %.
        minutes_at_three_nines: f64,
        /// Hours that it may be down at 99 %.
        hours_at_two_nines: f64,
    },
    /// A trial first.
    Trial {
        /// Hours.
        hours: f64,
        /// Its cost.
        cost: f64,
        /// Share of the whole cost.
        share: f64,
    },
    /// What a machine that is forgotten for a night costs.
    Forgotten {
        /// Cost of twelve hours.
        cost: f64,
    },
    /// Money to pay in before.
    Prepay {
        /// Cost of the first hour.
        hour: f64,
        /// Cost of all.
        all: f64,
    },
}

const GIB: f64 = 1_073_741_824.0;
const GB: f64 = 1e9;
const MB: f64 = 1e6;
/// A night, hours.
const NIGHT_HOURS: f64 = 12.0;
/// Checkpoints that are kept at once.
const KEPT_CHECKPOINTS: f64 = 3.0;
/// A trial is so much of the job, and an hour at most.
const TRIAL_SHARE: f64 = 0.05;
const TRIAL_HOURS: f64 = 1.0;

/// The list for a need, in the order in which one asks.
pub fn checklist(need: &Need) -> Vec<Check> {
    let model_gb = need.model_bytes / GB;
    let fetched_gb = model_gb + need.upload_gb;
    let trial_hours = (need.hours * TRIAL_SHARE).min(TRIAL_HOURS);
    let trial_cost = trial_hours * need.cost_per_hour;
    let mut list = vec![Check::ExclusiveMemory {
        needed_gib: need.needed_bytes / GIB,
        usable_gib: need.usable_bytes / GIB,
    }];
    if need.cards > 1 {
        list.push(Check::CardLink {
            tensor_ways: need.tensor_ways,
            linked: need.linked,
            share: need.communication_share,
        });
    }
    if need.machines > 1 {
        list.push(Check::Network {
            machines: need.machines,
        });
    }
    list.push(Check::DiskSpeed {
        feed_mb_s: need.data_bytes_per_s / MB,
        model_gb,
        load_mb_s: need.model_bytes / MB / 60.0,
    });
    list.push(Check::DiskSpace {
        gb: fetched_gb + KEPT_CHECKPOINTS * need.checkpoint_bytes / GB,
    });
    list.push(Check::Region {
        gb: fetched_gb,
        hours_at_100_mbit_s: fetched_gb * 8000.0 / 100.0 / 3600.0,
    });
    list.push(Check::Sla {
        hours: need.hours,
        minutes_at_three_nines: need.hours * 0.001 * 60.0,
        hours_at_two_nines: need.hours * 0.01,
    });
    list.push(Check::Trial {
        hours: trial_hours,
        cost: trial_cost,
        share: if need.cost > 0.0 {
            (trial_cost / need.cost).min(1.0)
        } else {
            0.0
        },
    });
    list.push(Check::Forgotten {
        cost: need.cost_per_hour * NIGHT_HOURS,
    });
    list.push(Check::Prepay {
        hour: need.cost_per_hour,
        all: need.cost,
    });
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need() -> Need {
        Need {
            needed_bytes: 20.0 * GIB,
            usable_bytes: 23.5 * GIB,
            cards: 1,
            machines: 1,
            linked: true,
            tensor_ways: 1,
            communication_share: 0.0,
            model_bytes: 15e9,
            data_bytes_per_s: 2e5,
            checkpoint_bytes: 1e9,
            hours: 720.0,
            cost_per_hour: 2.0,
            cost: 1440.0,
            upload_gb: 30.0,
        }
    }

    #[test]
    fn numbers_by_hand() {
        let list = checklist(&need());
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.max(1.0), "{a} {b}");
        for check in list {
            match check {
                Check::ExclusiveMemory {
                    needed_gib,
                    usable_gib,
                } => {
                    near(needed_gib, 20.0);
                    near(usable_gib, 23.5);
                }
                Check::DiskSpeed {
                    feed_mb_s,
                    load_mb_s,
                    ..
                } => {
                    near(feed_mb_s, 0.2);
                    near(load_mb_s, 250.0);
                }
                Check::DiskSpace { gb } => near(gb, 48.0),
                // 45 GB are 360 Gbit: an hour at 100 Mbit/s.
                Check::Region {
                    hours_at_100_mbit_s,
                    ..
                } => near(hours_at_100_mbit_s, 1.0),
                // 99.9 % of a month of 720 hours leaves 43.2 minutes.
                Check::Sla {
                    minutes_at_three_nines,
                    hours_at_two_nines,
                    ..
                } => {
                    near(minutes_at_three_nines, 43.2);
                    near(hours_at_two_nines, 7.2);
                }
                Check::Trial { hours, cost, share } => {
                    near(hours, 1.0);
                    near(cost, 2.0);
                    near(share, 1.0 / 720.0);
                }
                Check::Forgotten { cost } => near(cost, 24.0),
                Check::Prepay { hour, all } => {
                    near(hour, 2.0);
                    near(all, 1440.0);
                }
                Check::CardLink { .. } | Check::Network { .. } => unreachable!("one card"),
            }
        }
    }

    #[test]
    fn cards_and_machines_bring_their_own_lines() {
        let many = Need {
            cards: 16,
            machines: 2,
            tensor_ways: 8,
            communication_share: 0.2,
            ..need()
        };
        let list = checklist(&many);
        assert!(list.contains(&Check::CardLink {
            tensor_ways: 8,
            linked: true,
            share: 0.2
        }));
        assert!(list.contains(&Check::Network { machines: 2 }));
    }
}
