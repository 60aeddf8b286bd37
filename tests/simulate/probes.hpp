// Handles the product's TROUPE_BUGGIFY and TROUPE_REACHED while a simulation runs.
#pragma once
#include "tests/simulate/core.hpp"
#include "troupe/runtime/simulation.hpp"

#include <map>

namespace troupe::simulate {

class probes final : public simulation_hooks {
public:
  explicit probes(core& simulation);
  ~probes();
  bool interferes(const simulation_probe& at) noexcept override;
  void reached(const simulation_probe& at) noexcept override;
  void calm_down() { calm_ = true; }

  /// Bit i: all()[i] was reached, or has acted.
  uint64_t hits() const noexcept { return hits_; }
  /// The probes of the program, sorted by name; one per name.
  static const std::vector<const simulation_probe*>& all();

private:
  void hit(const simulation_probe& at);

  core& core_;
  dice chance_;
  std::map<std::string_view, bool> active_;
  uint64_t hits_ = 0;
  bool calm_ = false;
};

} // namespace troupe::simulate
