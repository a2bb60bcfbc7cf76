//! A histogram drawn in text.

use hdrhistogram::Histogram;

use super::report::span;

/// The longest bar.
const WIDTH: u64 = 50;

/// The histogram of times in µs as labels and bars: each line is for times up to twice those of the line before. Lines
/// between others are there even when they are empty; a line that has something has a bar.
#[must_use]
pub fn picture(times: &Histogram<u64>) -> Vec<(String, String)> {
    if times.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut top = 125;
    while top < times.min() {
        top *= 2;
    }
    let mut bottom = 0;
    loop {
        lines.push((top, times.count_between(bottom, top)));
        if top >= times.max() {
            break;
        }
        (bottom, top) = (top + 1, top * 2);
    }
    let most = lines.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let draw = |(top, count): (u64, u64)| {
        let bar = "#".repeat((count * WIDTH).div_ceil(most) as usize);
        (format!("<= {}", span(top)), format!("{bar} {count}").trim_start().to_owned())
    };
    lines.into_iter().map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_one_line() {
        let mut times = Histogram::new_with_bounds(1, 10_000_000, 3).unwrap();
        for time in [300, 400, 900, 900, 900, 40_000] {
            times.record(time).unwrap();
        }
        let lines = picture(&times);
        let labels: Vec<&str> = lines.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels.first(), Some(&"<= 500 µs"));
        assert_eq!(labels.last(), Some(&"<= 64.0 ms"));
        let counts = lines.iter().filter_map(|(_, bar)| bar.rsplit(' ').next()?.parse::<u64>().ok());
        assert_eq!(counts.sum::<u64>(), 6);
        assert!(lines.iter().any(|(_, bar)| bar.starts_with(&"#".repeat(50)) && bar.ends_with(" 3")));
        assert!(picture(&Histogram::<u64>::new(3).unwrap()).is_empty());
    }
}
