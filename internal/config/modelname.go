package config

import (
	"cmp"
	"strings"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// readNames finds the endpoints of the configured models.
func (l *loader) readNames() error {
	known := &llm.Router{Default: l.Endpoint, Endpoints: make(map[string]llm.Endpoint)}
	for _, e := range l.AllEndpoints() {
		known.Endpoints[e.Name] = llm.Endpoint{NoVendors: e.NoVendors()}
	}
	if _, ok := known.Endpoints[l.Endpoint]; !ok {
		return bad("%s: there is no endpoint %s: the endpoints are %s; add [endpoints.%s]", find(l.root, "endpoint").origin, quote(l.Endpoint), strings.Join(known.Names(), ", "), l.Endpoint)
	}
	for _, r := range l.refs {
		if err := r.find(known); err != nil {
			return bad("%s: %s: %v", cmp.Or(r.setting.origin, "default"), r.path, err)
		}
	}
	return nil
}

// naming is a setting that names models.
type naming struct {
	path    string
	setting *setting
	find    func(*llm.Router) error
}

// model is a setting of the name of a model. path is the whole key.
func (l *loader) model(path string, target *item.ModelRef) *setting {
	typed := new(string)
	s := name(path[strings.LastIndexByte(path, '.')+1:], typed)
	l.refs = append(l.refs, naming{path, s, func(known *llm.Router) (err error) {
		*target, err = known.Find(*typed)
		return err
	}})
	return s
}

// models is a setting of the names of models. path is the whole key.
func (l *loader) models(path string, target *[]item.ModelRef) *setting {
	typed := new([]string)
	s := names(path, typed)
	l.refs = append(l.refs, naming{path, s, func(known *llm.Router) error {
		*target = nil
		for _, name := range *typed {
			ref, err := known.Find(name)
			if err != nil {
				return err
			}
			*target = append(*target, ref)
		}
		return nil
	}})
	return s
}
