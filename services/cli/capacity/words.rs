//! Numbers for people, and tables of them.

/// A number with a mark at each thousand; small ones with what is behind the point.
#[must_use]
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    match value.abs() {
        size if size >= 100.0 || size.fract() == 0.0 => grouped(value.round() as u64),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Whole numbers: `1,234,567`.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the unit that reads best.
#[must_use]
pub fn bytes(value: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut size, mut unit) = (value, 0);
    while size.abs() >= 1000.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if size >= 100.0 || unit == 0 { format!("{size:.0} {name}") } else { format!("{size:.1} {name}") }
}

/// CPU in the unit that reads best.
#[must_use]
pub fn cpu(us: f64) -> String {
    match us {
        us if us < 10.0 => format!("{us:.1} µs"),
        us if us < 10_000.0 => format!("{} µs", us.round()),
        us => format!("{:.1} ms", us / 1e3),
    }
}

/// A part of a whole.
#[must_use]
pub fn part(of_one: f64) -> String {
    format!("{:.0} %", of_one * 100.0)
}

/// Rows below a heading, all to the right, in columns as wide as they have to be.
#[must_use]
pub fn columns(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|name| (*name).to_owned()).collect();
    let all = || std::iter::once(&heading).chain(rows);
    let width = |column: usize| {
        all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  "))
    };
    all().map(line).collect()
}

/// Numbers as a line of bars, the greatest as high as a line is.
#[must_use]
pub fn bars(numbers: &[u32], rich: bool) -> String {
    let levels: Vec<char> = if rich { " ▁▂▃▄▅▆▇█" } else { " .:-=+*#@" }.chars().collect();
    let most = u64::from(numbers.iter().copied().max().unwrap_or(1).max(1));
    let top = levels.len() as u64 - 1;
    let bar = |number: &u32| {
        let level = (u64::from(*number) * top).div_ceil(most);
        levels.get(level as usize).copied().unwrap_or(' ')
    };
    numbers.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(
            [0.0, 7.0, 1.234, 56.78, 1_234_567.0].map(number),
            ["0", "7", "1.23", "56.8", "1,234,567"]
        );
        assert_eq!(number(f64::INFINITY), "-");
        assert_eq!([12.0, 2_048.0, 5e9].map(bytes), ["12 B", "2.0 KiB", "4.7 GiB"]);
        assert_eq!([3.25, 612.4, 15_600.0].map(cpu), ["3.2 µs", "612 µs", "15.6 ms"]);
        assert_eq!(part(0.4961), "50 %");
    }

    #[test]
    fn columns_are_as_wide_as_they_have_to_be() {
        let rows = [vec!["1,000".to_owned(), "2".to_owned()], vec!["10".to_owned(), "30".to_owned()]];
        assert_eq!(columns(&["tables", "n"], &rows), "  tables   n\n   1,000   2\n      10  30\n");
    }

    #[test]
    fn something_is_never_drawn_as_nothing() {
        assert_eq!(bars(&[0, 1, 500, 1000], false), " .=@");
        assert_eq!(bars(&[], true), "");
    }
}
