package web

// Without makes a podd web that lacks a rule, to show what the rule is for.
func Without(rule string) func(*Config) { return func(c *Config) { c.without = rule } }

// Rules are the names of all rules.
func Rules() (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// Confinement is what podctl web status shows.
var Confinement = confinement
