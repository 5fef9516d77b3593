package exchange

import "slices"

// vendorRow names the provider behind some hosts; see quirks.toml.
type vendorRow struct {
	Name  string   `toml:"name"`
	Hosts []string `toml:"hosts"`
	From  string   `toml:"from"`
}

// Vendor names the provider behind a base URL as OpenTelemetry's gen_ai.provider.name does.
// For unknown hosts it is the one whose API they have.
func Vendor(baseURL, api string) string {
	if base, err := parseBase(baseURL); err == nil {
		for _, v := range builtin().Vendors {
			if slices.ContainsFunc(v.Hosts, func(name string) bool { return isHost(base.Hostname(), name) }) {
				return v.Name
			}
		}
	}
	if api == APIMessages {
		return "anthropic"
	}
	return "openai"
}
