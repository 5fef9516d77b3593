package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// Facts is what one source says about a model. Zero fields are unknown.
type Facts struct {
	// Window bounds the input of a request, Output its answer, in tokens.
	Window, Output int
	// Effort are the values that the model takes as the reasoning effort.
	Effort []string
	// Images says whether the model reads images.
	Images Answer
	// Price is in USD per million tokens; nil if unknown.
	Price *Price
}

// Answer is yes, no or unknown.
type Answer string

// The answers; the zero value is unknown.
const (
	Yes Answer = "yes"
	No  Answer = "no"
)

// AnswerOf is yes or no.
func AnswerOf(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

// Facts are the model's.
func (m Model) Facts() Facts {
	return Facts{Window: cmp.Or(m.Input, m.Window), Output: m.Output, Effort: m.Effort, Images: AnswerOf(m.Images), Price: m.Price}
}

// hosts are the vendors' own, which also serve subdomains.
var hosts = map[string]string{
	"api.openai.com": "openai", "api.anthropic.com": "anthropic", "generativelanguage.googleapis.com": "google", "api.x.ai": "xai",
	"api.deepseek.com": "deepseek", "aliyuncs.com": "alibaba", "api.mistral.ai": "mistral", "codestral.mistral.ai": "mistral",
	"api.moonshot.ai": "moonshotai", "api.moonshot.cn": "moonshotai", "api.z.ai": "zai", "open.bigmodel.cn": "zai",
	"api.minimax.io": "minimax", "api.minimaxi.com": "minimax", "api.llama.com": "llama", "api.cohere.com": "cohere", "api.cohere.ai": "cohere",
	"api.xiaomimimo.com": "xiaomi", "api.stepfun.com": "stepfun", "api.stepfun.ai": "stepfun",
}

// VendorAt is the vendor whose own models a host serves; empty for other hosts.
func VendorAt(host string) string {
	for host = strings.ToLower(host); host != ""; {
		if vendor := hosts[host]; vendor != "" {
			return vendor
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return ""
}

// Of are the models of a vendor.
func (c *Catalog) Of(vendor string) []Model {
	return slices.DeleteFunc(slices.Clone(c.Models), func(m Model) bool { return m.Vendor != vendor })
}
