package wire

// enum names the numbers of a protobuf enum: the index is the number, index 0
// (unspecified) the empty name.
type enum[N ~string] []N

// number is the number of a name, 0 for a name that is not in the table.
func (e enum[N]) number(name N) int32 {
	for n, known := range e {
		if known == name {
			return int32(n)
		}
	}
	return 0
}

// name is the name of a number, empty for a number that this podd does not know.
func (e enum[N]) name(number int32) N {
	if number < 0 || int(number) >= len(e) {
		return ""
	}
	return e[number]
}
