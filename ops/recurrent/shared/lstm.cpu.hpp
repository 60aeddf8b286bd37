// The arithmetic of long short-term memory, for one step or many (Hochreiter and Schmidhuber 1997;
// with peepholes: Gers, Schraudolph and Schmidhuber 2002). LSTMBlockCell and BlockLSTM share it.
#pragma once
#include "troupe/ops/recurrent/shared/lstm_kernels.hpp"

namespace troupe::ops {

/// Reads x, cs_prev, h_prev, w, wci, wcf, wco, b; writes i, cs, f, o, ci, co, h. For the types f16,
/// f32 and f64.
template <class T>
status lstm_forward(kernel_context& at, const lstm_options& options, lstm_span span);

/// Also reads i, cs, f, o, ci, co, h (only for sequences), cs_grad, h_grad. For a single step it
/// writes the gradients of cs_prev, gates, wci, wcf, wco; for a sequence those of all inputs of
/// `lstm_forward`. As in TensorFlow, the gradient ignores the clipping of cells.
template <class T>
status lstm_backward(kernel_context& at, const lstm_options& options, lstm_span span);

template <class T, lstm_span Span>
status run_lstm_forward(kernel_context& at) {
  return lstm_forward<T>(at, at.state<lstm_options>(), Span);
}
template <class T, lstm_span Span>
status run_lstm_backward(kernel_context& at) {
  return lstm_backward<T>(at, at.state<lstm_options>(), Span);
}

template <lstm_span Span>
inline constexpr inplace_vector<typed_kernel, 18> lstm_forward_kernels{
    {dtype::f16, run_lstm_forward<float16, Span>},
    {dtype::f32, run_lstm_forward<float, Span>},
    {dtype::f64, run_lstm_forward<double, Span>}};
template <lstm_span Span>
inline constexpr inplace_vector<typed_kernel, 18> lstm_backward_kernels{
    {dtype::f16, run_lstm_backward<float16, Span>},
    {dtype::f32, run_lstm_backward<float, Span>},
    {dtype::f64, run_lstm_backward<double, Span>}};

} // namespace troupe::ops
