//! Colours: roles, themes, and maps from numbers to colours.

/// Which real colours the roles get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// For white paper.
    Light,
    /// For dark screens.
    Dark,
    /// CSS variables, which follow the page that holds the picture.
    Page,
}

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Words.
    Ink,
    /// Words that stand back: the numbers of an axis.
    Soft,
    /// Lines that only guide the eye.
    Grid,
    /// What lies behind everything.
    Surface,
    /// Coasts and borders.
    Coast,
    /// The outline of the region at hand.
    Region,
    /// The n-th series; they repeat after eight.
    Series(usize),
}

// Okabe and Ito's palette in an order that keeps neighbours apart, its black and yellow replaced by
// colours that can be seen on both grounds; a little lighter in the dark.
const SERIES: [(&str, &str); 8] = [
    ("#0072B2", "#4FA8E0"),
    ("#D55E00", "#F0833A"),
    ("#009E73", "#2FC49A"),
    ("#B45A93", "#DD93BD"),
    ("#C98500", "#E8AE2E"),
    ("#3A9BD0", "#8CCBF0"),
    ("#6B6B6B", "#B5B5B5"),
    ("#7A4FB5", "#B08FE6"),
];

const ROLES: [(Role, &str, &str, &str); 6] = [
    (Role::Ink, "ink", "#1B1F24", "#E8EAED"),
    (Role::Soft, "soft", "#57606A", "#A3ABB5"),
    (Role::Grid, "grid", "#E3E6EA", "#31363D"),
    (Role::Surface, "surface", "#FFFFFF", "#16191D"),
    (Role::Coast, "coast", "#6E7781", "#9AA3AD"),
    (Role::Region, "region", "#B3261E", "#FF8A80"),
];

impl Role {
    /// The colour that stands for the role until a theme is applied. None of the colour maps below
    /// comes near these blues that are nearly black.
    pub fn placeholder(self) -> [u8; 3] {
        match self {
            Role::Series(n) => [0, 0, 0x40 + (n % SERIES.len()) as u8],
            role => {
                let index = ROLES.iter().position(|(other, ..)| *other == role).unwrap_or(0);
                [0, 0, 0x20 + index as u8]
            }
        }
    }
}

impl Theme {
    /// Puts this theme's colours in the place of the roles.
    pub fn apply(self, svg: &str) -> String {
        let mut themed = svg.to_owned();
        let mut put = |role: Role, real: &str| {
            let [r, g, b] = role.placeholder();
            themed = themed.replace(&format!("\"#{r:02X}{g:02X}{b:02X}\""), &format!("\"{real}\""));
        };
        for (role, name, light, dark) in ROLES {
            put(role, &self.pick(&format!("var(--{name})"), light, dark));
        }
        for (n, (light, dark)) in SERIES.iter().enumerate() {
            put(Role::Series(n), &self.pick(&format!("var(--series-{n})"), light, dark));
        }
        themed
    }

    fn pick(self, variable: &str, light: &str, dark: &str) -> String {
        match self {
            Theme::Page => variable,
            Theme::Light => light,
            Theme::Dark => dark,
        }
        .to_owned()
    }

    /// The CSS variables that [`Theme::Page`] refers to, with the values of this theme.
    pub fn variables(self) -> String {
        let dark_theme = self == Theme::Dark;
        let mut css = String::new();
        for (_, name, light, dark) in ROLES {
            css += &format!("--{name}:{};", if dark_theme { dark } else { light });
        }
        for (n, (light, dark)) in SERIES.iter().enumerate() {
            css += &format!("--series-{n}:{};", if dark_theme { dark } else { light });
        }
        css
    }
}

// Viridis at nine points, and a blue–white–red of even lightness steps.
const VIRIDIS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];
const DIVERGING: [[u8; 3]; 9] = [
    [5, 60, 120],
    [33, 102, 172],
    [84, 154, 199],
    [166, 206, 227],
    [244, 244, 244],
    [250, 200, 172],
    [229, 130, 101],
    [189, 50, 55],
    [115, 0, 31],
];

/// Numbers to colours.
#[derive(Clone, Copy, Debug)]
pub struct ColourMap {
    pub low: f64,
    pub high: f64,
    signed: bool,
}

impl ColourMap {
    /// A map that covers the finite ones of `values`; a signed one is symmetric about zero.
    pub fn over(values: impl Iterator<Item = f64>, signed: bool) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if signed {
            let most = low.abs().max(high.abs());
            (low, high) = (-most, most);
        }
        if low == high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        Self { low, high, signed }
    }

    /// The colour of `value`; none for a value that is not a number.
    pub fn at(&self, value: f64) -> Option<[u8; 3]> {
        value.is_finite().then(|| self.fraction((value - self.low) / (self.high - self.low)))
    }

    /// The colour at a fraction of the range.
    pub fn fraction(&self, fraction: f64) -> [u8; 3] {
        let stops = if self.signed { &DIVERGING } else { &VIRIDIS };
        let position = fraction.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
        let i = (position as usize).min(stops.len() - 2);
        let part = position - i as f64;
        std::array::from_fn(|c| {
            let (a, b) = (f64::from(stops[i][c]), f64::from(stops[i + 1][c]));
            (a + part * (b - a)).round() as u8
        })
    }
}

/// Black or white, whichever reads better on `ground`.
pub fn ink_on([r, g, b]: [u8; 3]) -> [u8; 3] {
    let luminance = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    if luminance > 140.0 { [17, 17, 17] } else { [255, 255, 255] }
}
