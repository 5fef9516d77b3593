// Package setup leads a person to a first configuration: it finds a model endpoint, tries one
// request, and says what config.toml and the key's file are to contain. It asks in a
// Dialog, and writes nothing before the person agrees.
//
// Rank 6: it imports internal/endpoints and its package dial.
package setup
