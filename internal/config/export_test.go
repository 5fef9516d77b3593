package config

// Reference is reference for tests.
var Reference = reference
