// What the kernels of long short-term memory share, on every device.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Which quarter of a row of gates belongs to whom: the input gate, the new value of the cell, the
/// forget gate, the output gate.
struct gate_order {
  int i, ci, f, o;
};
inline constexpr gate_order icfo{0, 1, 2, 3}, ifco{0, 2, 1, 3};

/// Attributes.
struct lstm_options {
  gate_order order = icfo;
  bool use_peephole = false;
  float forget_bias = 0;
  float cell_clip = 0; ///< cells stay within +- this; not if it is 0 or less
};

/// x has one step, without an axis for it, or many, and then the op's first input is their number.
enum class lstm_span : uint8_t { step, sequence };

template <gate_order Order>
result<std::shared_ptr<void>> prepare_lstm(const kernel_setup& setup) {
  const auto& of = setup.of;
  auto real = [&](std::string_view name) {
    return of.op().find_attr(name) ? static_cast<float>(of.attr<double>(name)) : 0.f;
  };
  return std::shared_ptr<void>{
      std::make_shared<lstm_options>(lstm_options{.order = Order,
                                                  .use_peephole = of.attr<bool>("use_peephole"),
                                                  .forget_bias = real("forget_bias"),
                                                  .cell_clip = real("cell_clip")})};
}

/// The extents of a layer, and its inputs but for the sequence itself.
struct lstm_extents {
  int64_t steps, active, batch, inputs, cells; // steps from `active` on are not computed
  int64_t rows() const { return active * batch; }
};

/// Fails where the inputs do not fit each other.
result<lstm_extents> check_lstm(kernel_context& at, bool use_peephole, lstm_span span);

/// What the outputs of each step look like, and all of them together.
result<shape> lstm_output_shape(const lstm_extents& of, lstm_span span);

/// What the gates of a cell get, but from the cell itself, or the gradients of that.
template <class C>
struct lstm_gates {
  C i, ci, f, o;
};
template <class C>
struct lstm_peepholes {
  C i, f, o;
};
/// What a step leaves of a cell for the next and for the gradient.
template <class C>
struct lstm_cell {
  C i, cs, f, o, ci, co, h;
};
/// The gradients that a step gives back.
template <class C>
struct lstm_slopes {
  lstm_gates<C> gates;
  C cs_prev;
};

/// A step of a cell; Math knows the functions of gates.
template <class Math, class C>
constexpr __attribute__((always_inline)) lstm_cell<C>
lstm_step(const lstm_gates<C>& to, C before, const lstm_peepholes<C>& weights, C clip) {
  C i = Math::squashed(to.i + before * weights.i);
  C f = Math::squashed(to.f + before * weights.f);
  C ci = Math::tangent_of(to.ci);
  C cs = ci * i + before * f;
  cs = cs > clip ? clip : cs;
  cs = cs < -clip ? -clip : cs;
  C o = Math::squashed(to.o + cs * weights.o);
  C co = Math::tangent_of(cs);
  return {i, cs, f, o, ci, co, co * o};
}

/// The same backward: the gradients of a cell and of what it shows.
template <class C>
constexpr __attribute__((always_inline)) lstm_slopes<C>
lstm_step_back(const lstm_cell<C>& of, C before, const lstm_peepholes<C>& weights, C cs_grad, C h) {
  C to_o = h * of.co * of.o * (C{1} - of.o);
  C cs = cs_grad + h * of.o * (C{1} - of.co * of.co) + to_o * weights.o;
  C to_i = cs * of.ci * of.i * (C{1} - of.i), to_f = cs * before * of.f * (C{1} - of.f);
  return {{to_i, cs * of.i * (C{1} - of.ci * of.ci), to_f, to_o},
          cs * of.f + to_i * weights.i + to_f * weights.f};
}

} // namespace troupe::ops
