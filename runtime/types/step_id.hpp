// Which step: the session that runs it, and its number there.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>

namespace troupe {

/// Names a step on all tasks. Two sessions never share an id: each draws 64 random bits.
struct step_id {
  constexpr step_id() = default;
  constexpr step_id(uint64_t of_session, uint64_t number) : session(of_session), sequence(number) {}
  uint64_t session = 0;
  uint64_t sequence = 0; ///< rises in the order in which a master starts its steps
  auto operator<=>(const step_id&) const = default;
};

/// As people know it: its number in its session.
inline std::ostream& operator<<(std::ostream& to, const step_id& what) {
  return to << what.sequence;
}

} // namespace troupe

template <>
struct std::hash<troupe::step_id> {
  size_t operator()(const troupe::step_id& of) const noexcept {
    // Sequences differ in their low bits, sessions anywhere (the factor is that of Fibonacci
    // hashing).
    return static_cast<size_t>((of.session ^ of.sequence) * 0x9e3779b97f4a7c15u);
  }
};
