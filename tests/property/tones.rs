//! The colours of a table at a terminal.

use jobdoctor::output::format::Tone;

/// Of xterm's eight colours, only red and magenta have a contrast of 3 with black and with white.
#[test]
fn every_tone_can_be_read_on_black_and_on_white() {
    let luminance = |rgb: [f64; 3]| {
        let linear = rgb.map(|part| ((part / 255.0 + 0.055) / 1.055).powf(2.4));
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    const XTERM: [[f64; 3]; 8] = [
        [0.0, 0.0, 0.0],
        [205.0, 0.0, 0.0],
        [0.0, 205.0, 0.0],
        [205.0, 205.0, 0.0],
        [0.0, 0.0, 238.0],
        [205.0, 0.0, 205.0],
        [0.0, 205.0, 205.0],
        [229.0, 229.0, 229.0],
    ];
    for tone in [Tone::Plain, Tone::Dim, Tone::Warn, Tone::Amiss, Tone::Bad, Tone::Strong] {
        let painted = tone.paint("");
        let colors = painted.split("\x1b[3").skip(1).map(|code| code.as_bytes()[0] - b'0');
        for light in colors.map(|color| luminance(XTERM[usize::from(color)])) {
            let (on_black, on_white) = ((light + 0.05) / 0.05, 1.05 / (light + 0.05));
            assert!(on_black > 3.0 && on_white > 3.0, "{tone:?}: {on_black:.1} on black, {on_white:.1} on white");
        }
    }
}
