package projection_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/projection"
)

func TestConfigIsChecked(t *testing.T) {
	tests := map[string]struct {
		c    projection.Config
		part string
	}{
		"mode":          {projection.Config{Mode: "sometimes"}, `"sometimes"`},
		"cache":         {projection.Config{Cache: "all"}, `"all"`},
		"floor":         {projection.Config{Floor: -1}, "floor is -1"},
		"not a number":  {projection.Config{Economic: projection.EconomicConfig{MinGain: math.NaN()}}, "min_gain is NaN"},
		"infinite":      {projection.Config{Economic: projection.EconomicConfig{Miss: math.Inf(1)}}, "miss is +Inf"},
		"horizon":       {projection.Config{Economic: projection.EconomicConfig{HorizonMin: 61}}, "horizon_min is above horizon_max"},
		"a share":       {projection.Config{Pressure: projection.PressureConfig{Above: 1.1}}, "at most 1"},
		"an empty band": {projection.Config{Pressure: projection.PressureConfig{To: .8}}, "pressure to is above"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := projection.NewLedger(tt.c)
			if item.ReasonOf(err) != "BAD_PRUNING" || !strings.Contains(err.Error(), tt.part) {
				t.Errorf("got %v, want a sentence with %q", err, tt.part)
			}
		})
	}
}

// A number that the check forgets would be accepted below 0.
func TestEveryNumberIsChecked(t *testing.T) {
	var c projection.Config
	eachNumber(reflect.ValueOf(&c).Elem(), func(name string, v reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		if v.CanInt() {
			v.SetInt(-1)
		} else {
			v.SetFloat(-1)
		}
		if _, err := projection.NewLedger(c); err == nil {
			t.Errorf("%s may be -1", name)
		}
		v.Set(old)
	})
	if _, err := projection.NewLedger(c); err != nil {
		t.Error(err)
	}
}

func eachNumber(v reflect.Value, f func(string, reflect.Value)) {
	for field, value := range v.Fields() {
		switch {
		case value.Kind() == reflect.Struct:
			eachNumber(value, f)
		case value.CanInt() || value.CanFloat():
			f(field.Name, value)
		}
	}
}
