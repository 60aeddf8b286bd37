// Generators of random numbers as state of a graph, in a variable that is saved with the others.
#pragma once
#include "troupe/ops/random/shared/philox.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The position of a generator: a counter of blocks with 128 bits, and the key.
struct generator_state {
  uint64_t low = 0, high = 0, key = 0;

  /// The numbers from this position on; `low` is the index of the first block.
  philox numbers() const { return {key, high}; }
  generator_state after(uint64_t elements) const {
    // Each element reserves this many blocks, for methods that reject numbers.
    constexpr int reserved_bits = 8;
    auto sum = low + (elements << reserved_bits);
    return {sum, high + (elements >> (64 - reserved_bits)) + (sum < low), key};
  }
};

/// Fails unless the input names the algorithm Philox, or the default.
inline status check_algorithm(const tensor& algorithm) {
  constexpr int64_t philox = 1, any = 3;
  if (algorithm.rank() != 0)
    return invalid("the algorithm must be a scalar, got shape ", algorithm.dims());
  auto number = to_integers(algorithm)[0];
  if (number == philox || number == any)
    return {};
  return failure(error_kind::unimplemented, "random numbers are drawn by Philox, which is 1, or 3 ",
                 "where any will do; got algorithm ", number);
}

/// Advances the generator in variable 0 by this many elements. Returns its previous position.
inline result<generator_state> advance(kernel_context& at, uint64_t elements) {
  generator_state old_state;
  const auto& variable = at.variable(0);
  auto body = [&](tensor& value) -> status {
    if (value.type() != dtype::i64 || value.rank() != 1 || value.elements() < 3)
      return invalid("variable '", variable.name(), "' is ", value.type(), value.dims(),
                     ": a generator's state is i64[3], a counter of two numbers and a key");
    auto* state = value.data<int64_t>();
    old_state = {static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1]),
                 static_cast<uint64_t>(state[2])};
    auto later = old_state.after(elements);
    state[0] = static_cast<int64_t>(later.low);
    state[1] = static_cast<int64_t>(later.high);
    return {};
  };
  TROUPE_TRY(at.variable(0).update(body, at.device().memory())); // the value outlives the step
  return old_state;
}

} // namespace troupe::ops
