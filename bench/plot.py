"""Line plots as SVG, without a library."""

import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 40, 50
COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b"]


def ticks(low, high, log):
    if log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        return [10.0**power for power in range(first, last + 1)]
    raw = (high - low) / 5
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw)
    first = math.floor(low / step)
    return [step * number for number in range(first, math.ceil(high / step) + 1)]


def text_of(value):
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}"


class Plot:
    def __init__(self, title, x, y, log_x=False, log_y=False):
        self._title, self._x, self._y, self._log = title, x, y, (log_x, log_y)
        self._lines = []

    def line(self, name, points, marks=False):
        if points:
            self._lines.append((name, sorted(points), marks))

    def save(self, path):
        ranges = []
        for axis in 0, 1:
            values = [point[axis] for _, points, _ in self._lines for point in points]
            low = min(values) if axis == 0 or self._log[axis] else 0
            marks = ticks(low, max(values), self._log[axis])
            ranges.append((marks[0] if axis or self._log[axis] else low, max(marks[-1], max(values)), marks))

        def place(axis, value):
            low, high, _ = ranges[axis]
            if self._log[axis]:
                low, high, value = math.log10(low), math.log10(high), math.log10(value)
            share = (value - low) / (high - low)
            return LEFT + share * (WIDTH - LEFT - RIGHT) if axis == 0 else \
                HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
               'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
               f'<text x="{LEFT}" y="24" font-size="15">{self._title}</text>']
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for mark in ranges[1][2]:
            y = place(1, mark)
            out.append(f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text_of(mark)}</text>')
        for mark in ranges[0][2]:
            if ranges[0][0] <= mark <= ranges[0][1]:
                x = place(0, mark)
                out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}" stroke="black"/>')
                out.append(f'<text x="{x:.1f}" y="{bottom + 19}" text-anchor="middle">{text_of(mark)}</text>')
        out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="black"/>')
        out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{self._x}</text>')
        out.append(f'<text transform="translate(16 {(TOP + bottom) / 2}) rotate(-90)" '
                   f'text-anchor="middle">{self._y}</text>')
        labels = []
        for number, (name, points, marks) in enumerate(self._lines):
            color = COLORS[number % len(COLORS)]
            placed = [(place(0, x), place(1, y)) for x, y in points]
            out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in placed)}" fill="none" '
                       f'stroke="{color}" stroke-width="2"/>')
            if marks:
                out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in placed]
            labels.append([placed[-1][1], name, color])
        labels.sort()
        for before, after in zip(labels, labels[1:]):  # labels must not overlap
            after[0] = max(after[0], before[0] + 14)
        out += [f'<text x="{right + 6}" y="{y + 4:.1f}" fill="{color}">{name}</text>' for y, name, color in labels]
        out.append("</svg>\n")
        path.write_text("\n".join(out), encoding="utf-8")
