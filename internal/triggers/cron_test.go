package triggers

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What clocks that change do, by tables of their dates.
func TestChangesOfTheClocks(t *testing.T) {
	for _, c := range []struct{ cron, zone, after, due string }{
		// Spring: 02:00 becomes 03:00.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28 12:00 +0100", "2026-03-29 03:00 +0200, 2026-03-30 02:30 +0200"},
		{"0,30 2 * * *", "Europe/Berlin", "2026-03-28 12:00 +0100", "2026-03-29 03:00 +0200, 2026-03-30 02:00 +0200"},
		{"*/30 * * * *", "Europe/Berlin", "2026-03-29 01:15 +0100", "2026-03-29 01:30 +0100, 2026-03-29 03:00 +0200, 2026-03-29 03:30 +0200"},
		// Autumn: 03:00 becomes 02:00.
		{"30 2 * * *", "Europe/Berlin", "2026-10-24 12:00 +0200", "2026-10-25 02:30 +0200, 2026-10-26 02:30 +0100"},
		{"*/30 * * * *", "Europe/Berlin", "2026-10-25 02:10 +0200", "2026-10-25 02:30 +0200, 2026-10-25 02:00 +0100, 2026-10-25 02:30 +0100, 2026-10-25 03:00 +0100"},
		{"30 2 * * *", "America/New_York", "2026-03-07 12:00 -0500", "2026-03-08 03:00 -0400, 2026-03-09 02:30 -0400"},
		// Half an hour, and zones that are half an hour off.
		{"15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00 +1030", "2026-10-04 02:30 +1100, 2026-10-05 02:15 +1100"},
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04 12:00 +1100", "2026-04-05 01:45 +1100, 2026-04-06 01:45 +1030"},
		{"0 9 * * 1-5", "Asia/Kolkata", "2026-11-27 12:00 +0530", "2026-11-30 09:00 +0530"},
		// Samoa had no 30 December 2011.
		{"0 10 30 12 *", "Pacific/Apia", "2011-12-29 12:00 -1000", "2011-12-31 00:00 +1400, 2012-12-30 10:00 +1400"},
		// The day begins at 01:00.
		{"@daily", "America/Santiago", "2026-09-05 12:00 -0400", "2026-09-06 01:00 -0300, 2026-09-07 00:00 -0300"},
		{"0 12 29 2 *", "UTC", "2026-01-01 00:00 +0000", "2028-02-29 12:00 +0000"},
		{"0 0 13 * 5", "UTC", "2026-11-12 12:00 +0000", "2026-11-13 00:00 +0000, 2026-11-20 00:00 +0000"},
		{"0 0 * * 7", "UTC", "2026-11-27 12:00 +0000", "2026-11-29 00:00 +0000"},
		{"0 0 * * 5-7", "UTC", "2026-11-27 12:00 +0000", "2026-11-28 00:00 +0000, 2026-11-29 00:00 +0000, 2026-12-04 00:00 +0000"},
	} {
		const layout = "2006-01-02 15:04 -0700"
		parsed, err := parseCron(c.cron, zone(t, c.zone))
		if err != nil {
			t.Fatal(err)
		}
		after, err := time.Parse(layout, c.after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range strings.Count(c.due, ",") + 1 {
			after = parsed.next(after)
			got = append(got, after.Format(layout))
		}
		if s := strings.Join(got, ", "); s != c.due {
			t.Errorf("%s in %s is due %s, not %s", c.cron, c.zone, s, c.due)
		}
	}
}

// For ten years each due time is one that a walk over all real minutes finds, which knows only what clocks show.
func TestTenYearsOfDueTimes(t *testing.T) {
	years := 10
	zones := []string{"Australia/Lord_Howe", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Casablanca", "Asia/Kathmandu"}
	if testing.Short() {
		years, zones = 1, zones[:1]
	}
	for _, expression := range []string{"30 2 * * *", "0 0 * * *", "*/20 1-3 * * 0", "17 * * * *", "45 1 1,15 * 1"} {
		for _, name := range zones {
			t.Run(fmt.Sprintf("%s %s", strings.ReplaceAll(name, "/", "-"), expression), func(t *testing.T) {
				t.Parallel()
				l := zone(t, name)
				c, err := parseCron(expression, l)
				if err != nil {
					t.Fatal(err)
				}
				at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
				end := at.AddDate(years, 0, 0)
				for _, want := range walked(c, at, end) {
					if at = c.next(at); !at.Equal(want) {
						t.Fatalf("after a due time the next is %s, not %s", at, want.In(l))
					}
				}
			})
		}
	}
}

// walked are the due times after one and before another, by what the clocks show at each minute. Each shown minute counts
// once, but for an hour of *; what the clocks skip is due with the minute that follows.
func walked(c cronTime, after, end time.Time) (due []time.Time) {
	wall := func(t time.Time) time.Time {
		l := t.In(c.zone)
		return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
	}
	matches := func(w time.Time) bool { return c.onDay(w) && c.Hour>>w.Hour()&1 == 1 && c.Minute>>w.Minute()&1 == 1 }
	shown := wall(after)
	for t := after.Add(time.Minute); t.Before(end); t = t.Add(time.Minute) {
		w := wall(t)
		is := c.Hour&star != 0 && matches(w)
		for shown.Before(w) {
			shown = shown.Add(time.Minute)
			is = is || c.Hour&star == 0 && matches(shown)
		}
		if is {
			due = append(due, t)
		}
	}
	return due
}

func TestCronIsRefused(t *testing.T) {
	for expression, want := range map[string]string{
		"":                       "has 0 fields",
		"0 2 * *":                "has 4 fields, not the five of cron",
		"0 0 2 * * *":            "has 6 fields, not the five of cron",
		"0 0 31 2 *":             "is never due",
		"61 * * * *":             "above maximum",
		"@every 5m":              "use --every",
		"TZ=Europe/Rome 0 2 * *": "use --every, for a zone --zone",
		"@sometimes":             "is no cron expression",
	} {
		if _, err := parseCron(expression, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", expression, err, want)
		}
	}
}
