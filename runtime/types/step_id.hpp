// The identity of a step: its session and its number in the session.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>

namespace troupe {

/// Identifies a step on all tasks. Two sessions never share an id: each draws 64 random bits.
struct step_id {
  constexpr step_id() = default;
  constexpr step_id(uint64_t session_id, uint64_t number) : session(session_id), sequence(number) {}
  uint64_t session = 0;
  uint64_t sequence = 0; ///< rises in the order in which a master starts its steps
  auto operator<=>(const step_id&) const = default;
};

/// Prints the number of the step in its session.
inline std::ostream& operator<<(std::ostream& out, const step_id& id) { return out << id.sequence; }

} // namespace troupe

template <>
struct std::hash<troupe::step_id> {
  size_t operator()(const troupe::step_id& id) const noexcept {
    // Sequences differ in their low bits, session ids in all bits. The factor is that of Fibonacci
    // hashing.
    return static_cast<size_t>((id.session ^ id.sequence) * 0x9e3779b97f4a7c15u);
  }
};
