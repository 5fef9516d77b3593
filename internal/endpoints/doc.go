// Package endpoints says what the configuration knows of a model endpoint. It is plain
// data; package dial opens endpoints.
package endpoints
