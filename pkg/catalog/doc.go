// Package catalog knows what vendors publish about their models: windows, prices, values of
// the reasoning effort, and whether a model reads images. The data is that of models.dev.
package catalog
