package triggers

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // A machine may have no zones of its own.

	"github.com/robfig/cron/v3"
)

// cronTime is a parsed cron expression in a zone.
//
// Its own next decides what a change of the clocks does, for no library keeps the rule: a fixed time in the hour that does
// not exist is due once, when that hour would have ended; one in the hour that comes twice is due the first time; an hour of *
// follows real time.
type cronTime struct {
	*cron.SpecSchedule
	zone *time.Location
}

// star is the bit of a field that is *.
const star = 1 << 63

// horizon is how far ahead a cron expression is looked at. Eight years have a 29 February.
const horizon = 8

// parseCron parses five fields, or a word such as @daily. One that is never due is an error.
func parseCron(expression string, zone *time.Location) (cronTime, error) {
	fields := strings.Fields(expression)
	if strings.Contains(expression, "TZ=") || strings.HasPrefix(expression, "@every") {
		return cronTime{}, fmt.Errorf("%q is no cron expression: for an interval use --every, for a zone --zone", expression)
	}
	if len(fields) != 5 && !strings.HasPrefix(expression, "@") {
		return cronTime{}, fmt.Errorf("%q has %d fields, not the five of cron: minute, hour, day of the month, month, day of the week", expression, len(fields))
	}
	if len(fields) == 5 {
		fields[4] = sunday(fields[4])
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).Parse(strings.Join(fields, " "))
	if err != nil {
		return cronTime{}, fmt.Errorf("%q is no cron expression: %w", expression, err)
	}
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return cronTime{}, fmt.Errorf("%q is no cron expression", expression)
	}
	c := cronTime{s, zone}
	if c.next(time.Unix(0, 0)).IsZero() {
		return cronTime{}, fmt.Errorf("%q is never due: no month that it names has such a day", expression)
	}
	return c, nil
}

// sunday writes a Sunday that is 7 as 0.
func sunday(field string) string {
	parts := strings.Split(field, ",")
	for i, p := range parts {
		if p == "7" {
			parts[i] = "0"
		} else if from, ok := strings.CutSuffix(p, "-7"); ok {
			parts[i] = from + "-6,0"
		}
	}
	return strings.Join(parts, ",")
}

// next is the first due time after another; zero if there is none within the horizon.
func (c cronTime) next(after time.Time) time.Time {
	after = after.In(c.zone)
	if c.Hour&star != 0 {
		return c.nextOfAll(after)
	}
	year, month, day := after.AddDate(0, 0, -1).Date()
	for n := range horizon * 366 {
		d := time.Date(year, month, day+n, 0, 0, 0, 0, time.UTC)
		if !c.onDay(d) {
			continue
		}
		for hour := range 24 {
			for minute := range 60 {
				if c.Hour>>hour&1 == 0 || c.Minute>>minute&1 == 0 {
					continue
				}
				if due := instant(d.Add(time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute), c.zone); due.After(after) {
					return due
				}
			}
		}
	}
	return time.Time{}
}

// nextOfAll is next for an hour of *: it looks at each real minute.
func (c cronTime) nextOfAll(after time.Time) time.Time {
	end := after.AddDate(horizon, 0, 0)
	for t := after.Truncate(time.Minute).Add(time.Minute); t.Before(end); {
		switch {
		case !c.onDay(t):
			// To the next hour, but not past a change of the clocks.
			next := t.Add(time.Duration(60-t.Minute()) * time.Minute)
			if _, change := t.ZoneBounds(); !change.IsZero() && change.Before(next) {
				next = change
			}
			t = next
		case c.Minute>>t.Minute()&1 == 1:
			return t
		default:
			t = t.Add(time.Minute)
		}
	}
	return time.Time{}
}

// onDay says whether the date of a time matches. As in cron, one of the two fields of the day is enough if none is *.
func (c cronTime) onDay(t time.Time) bool {
	dom, dow := c.Dom>>t.Day()&1 == 1, c.Dow>>t.Weekday()&1 == 1
	day := dom && dow
	if c.Dom&star == 0 && c.Dow&star == 0 {
		day = dom || dow
	}
	return day && c.Month>>t.Month()&1 == 1
}

// instant is when the clocks of a zone show what wall shows in UTC: the first time, or, if they skip it, when they do.
func instant(wall time.Time, zone *time.Location) time.Time {
	const farthest = 26 * time.Hour // From UTC, and some more.
	for t := wall.Add(-farthest).In(zone); ; {
		_, offset := t.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		_, change := t.ZoneBounds()
		if change.IsZero() || at.Before(change) {
			if start, _ := t.ZoneBounds(); at.Before(start) {
				return start
			}
			return at.In(zone)
		}
		t = change
	}
}
