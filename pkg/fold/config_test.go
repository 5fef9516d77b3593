package fold_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"podd/pkg/fold"
	"podd/pkg/item"
)

func TestConfigIsChecked(t *testing.T) {
	tests := map[string]struct {
		c    fold.Config
		part string
	}{
		"mode":          {fold.Config{Mode: "sometimes"}, `"sometimes"`},
		"cache":         {fold.Config{Cache: "all"}, `"all"`},
		"floor":         {fold.Config{Floor: -1}, "floor is -1"},
		"not a number":  {fold.Config{Economic: fold.EconomicConfig{MinGain: math.NaN()}}, "min_gain is NaN"},
		"infinite":      {fold.Config{Economic: fold.EconomicConfig{Miss: math.Inf(1)}}, "miss is +Inf"},
		"horizon":       {fold.Config{Economic: fold.EconomicConfig{HorizonMin: 61}}, "horizon_min is above horizon_max"},
		"a share":       {fold.Config{Pressure: fold.PressureConfig{Above: 1.1}}, "at most 1"},
		"an empty band": {fold.Config{Pressure: fold.PressureConfig{To: .8}}, "pressure to is above"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := fold.NewLedger(tt.c)
			if item.ReasonOf(err) != "BAD_PRUNING" || !strings.Contains(err.Error(), tt.part) {
				t.Errorf("got %v, want a sentence with %q", err, tt.part)
			}
		})
	}
}

// If the check forgot a field, it would accept a negative number there.
func TestEveryNumberIsChecked(t *testing.T) {
	var c fold.Config
	eachNumber(reflect.ValueOf(&c).Elem(), func(name string, v reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		if v.CanInt() {
			v.SetInt(-1)
		} else {
			v.SetFloat(-1)
		}
		if _, err := fold.NewLedger(c); err == nil {
			t.Errorf("%s may be -1", name)
		}
		v.Set(old)
	})
	if _, err := fold.NewLedger(c); err != nil {
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
