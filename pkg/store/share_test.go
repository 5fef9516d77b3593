package store_test

import (
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

func TestShareOf(t *testing.T) {
	team := "0123456789abcdef:/mnt/team"
	for name, c := range map[string]struct {
		shares []string
		spec   item.PodSpec
		want   string
	}{
		"elsewhere":                          {[]string{team}, item.PodSpec{Dir: "/home/you/app"}, ""},
		"in it, and reads more":              {[]string{team}, item.PodSpec{Dir: "/mnt/team/app", Read: []string{"/etc"}}, ""},
		"in a shared directory":              {[]string{"x:/mnt/other", team}, item.PodSpec{Dir: "/mnt/team/app"}, team},
		"in one with a similar name":         {[]string{"x:/mnt/other", team}, item.PodSpec{Dir: "/mnt/team2"}, ""},
		"in another checkout, which is here": {[]string{"x:/mnt/other", team}, item.PodSpec{Dir: "/mnt/team/app", Checkout: item.Checkout{Source: "/mnt/team"}}, ""},
	} {
		if got := store.ShareOf(c.shares, c.spec); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
