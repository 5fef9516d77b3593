// Package catalog knows what vendors publish about their models: windows, prices, values of
// the reasoning effort, and whether a model reads images. The data is that of models.dev.
//
// It is built in, without prices of resellers, because without a window podd compacts only
// after a refusal, and without a price a limit of cost refuses every turn. It only affects later
// decisions, so a new catalogue changes no old request.
package catalog
