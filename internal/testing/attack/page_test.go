package attack_test

// pageAttacks are attacks by the pages that a model requests.
func pageAttacks() []attack {
	const page = "internal/extend/webpage"
	return []attack{
		{"`web_fetch` of this machine, a private network or a metadata service", "CWE-918", "public addresses", page, "TestPrivateAddressesAreRefused"},
		{"a private address inside an IPv6 address", "CWE-918", "special addresses", page, "TestPublic"},
		{"a port of another service", "CWE-918", "web ports", page, "TestPrivateAddressesAreRefused"},
		{"a private name behind an HTTP proxy", "CWE-918", "names for proxies", page, "TestProxy"},
		{"a redirect to another host", "CWE-601", "redirects", page, "TestRedirects"},
		{"a page without end", "CWE-400", "bounded pages", page, "TestLongPageIsCut"},
		{"text that a page hides from people", "CWE-451", "hidden text", page, "TestPageBecomesMarkdown"},
	}
}

func pageGuards() map[string]guard {
	const p = "internal/extend/webpage/"
	return map[string]guard{
		"public addresses":  {"podd connects to public addresses only", []edit{{p + "fetch.go", "!s.Private && !Public(address.Addr()) {", "!s.Private && address.Port() == 0 {"}}},
		"special addresses": {"podd knows the special ranges", []edit{{p + "address.go", "	return !slices.ContainsFunc(special,", "	return true || !slices.ContainsFunc(special,"}}},
		"web ports":         {"podd connects to ports 80 and 443 only", []edit{{p + "fetch.go", "err == nil && !s.Ports && port", "err == nil && !s.Ports && port == \"\" && port"}}},
		"names for proxies": {"podd looks a name up before a proxy does", []edit{{p + "fetch.go", "!Public(a) }); i >= 0 {", "!Public(a) }); i >= len(addresses) {"}}},
		"redirects":         {"podd does not follow redirects to other hosts", []edit{{p + "fetch.go", "	case to.Host != from.Host, ", "	case to.Host == \"\", "}}},
		"bounded pages":     {"podd reads at most 5 MiB of a page", []edit{{p + "page.go", "io.LimitReader(response.Body, MaxBytes+1)", "io.LimitReader(response.Body, 2*MaxBytes)"}, {p + "page.go", "body = body[:min(len(body), MaxBytes)]", "body = body[:]"}}},
		"hidden text":       {"podd removes what a page hides", []edit{{p + "page.go", "	prune(doc)\n", "	_ = prune\n"}}},
	}
}
