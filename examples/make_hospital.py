"""Makes examples/hospital.csv: invented patients, in a file as a German spreadsheet writes it.

In:  a seed.
Out: cp1252, semicolons, decimal commas, dates such as 25.05.2023, an identifier, missing cells. All are invented."""

from __future__ import annotations

import datetime
import random
from pathlib import Path

HEAD = "Patienten-ID;Aufnahme;Alter;Geschlecht;Größe;Gewicht;Raucher;Blutdruck;Diabetes;Herzinsuffizienz;Entlassung"
MISSING = {4: 0.04, 5: 0.05, 6: 0.06, 7: 0.03}  # share of empty cells, by column


def comma(number: float, digits: int) -> str:
    return f"{number:.{digits}f}".replace(".", ",")


def patient(place: int, rng: random.Random) -> list[str]:
    """One row: age acts on blood pressure, weight on diabetes, pressure and smoking on the heart."""
    age = rng.randint(25, 92)
    sex = rng.choice(["männlich", "weiblich"])
    height = rng.gauss(1.79 if sex == "männlich" else 1.66, 0.06)
    weight = rng.gauss(27, 4.5) * height**2
    smoker = rng.random() < (0.35 if age < 60 else 0.18)
    pressure = rng.gauss(108 + 0.45 * age + (14 if smoker else 0), 7)
    diabetes = rng.random() < (0.6 if weight > 88 else 0.06)
    risk = 0.03 + 0.55 * (pressure > 146) + 0.15 * smoker
    heart = rng.random() < risk
    home = rng.random() < (0.4 if heart else 0.95)
    day = datetime.date(2023, 1, 2) + datetime.timedelta(days=rng.randrange(360))
    cells = [
        f"P{10000 + 37 * place}",
        day.strftime("%d.%m.%Y"),
        str(age),
        sex,
        comma(height, 2),
        comma(weight, 1),
        "ja" if smoker else "nein",
        str(round(pressure)),
        "ja" if diabetes else "nein",
        "ja" if heart else "nein",
        "nach Hause" if home else "verlegt",
    ]
    return ["" if rng.random() < MISSING.get(at, 0) else cell for at, cell in enumerate(cells)]


def content(rows: int = 200, seed: int = 2023) -> bytes:
    rng = random.Random(seed)
    lines = [HEAD, *(";".join(patient(place, rng)) for place in range(rows))]
    return "".join(f"{line}\r\n" for line in lines).encode("cp1252")


if __name__ == "__main__":
    (Path(__file__).parent / "hospital.csv").write_bytes(content())
