package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// members is a setting of a table with members of a request.
func members(key string, target *map[string]any) *setting {
	return of(key, "a table that JSON can express, such as { top_k = 40 }", target, func(value any) (map[string]any, bool) {
		m, ok := value.(map[string]any)
		return m, ok && isJSON(m)
	}, func(m map[string]any) string { return inTOML(m) })
}

// isJSON says whether a TOML value has the same form in JSON: dates have not.
func isJSON(value any) bool {
	switch v := value.(type) {
	case string, bool, int64:
		return true
	case float64:
		return v-v == 0 // Neither infinite nor NaN.
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !isJSON(e) })
	case map[string]any:
		for _, e := range v {
			if !isJSON(e) {
				return false
			}
		}
		return true
	}
	return false
}

// inJSON is a table as JSON, its keys sorted.
func inJSON(value map[string]any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inTOML is a value in TOML's notation, on one line.
func inTOML(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = inTOML(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, keyText(name)+" = "+inTOML(v[name]))
		}
		return braces(parts)
	}
	return ""
}
