// The ops and kernels of a program. An object created at startup and passed down, not a global.
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/graph/handle_op.hpp"
#include "troupe/runtime/graph/long_work.hpp"
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Filled at startup, then read-only; any thread may then use it.
class registry {
public:
  registry(); ///< contains only the runtime's internal ops

  /// Fails for a name that is in use and for a definition that contradicts itself. Also adds the
  /// two phases of an op with data-dependent shapes (two_phase_op.hpp), and the variant for handles
  /// of an op on variables (handle_op.hpp). An op with a second name is registered under both, with
  /// its kernels.
  status add(const op_def& op);
  /// The op must have been added before.
  status add(const kernel_def& kernel);
  /// The op must have been added before and must be blocking.
  status add(const work_def& work);

  /// Fails with not_found and proposes similar names.
  result<const op_def*> find_op(std::string_view name) const;
  /// Returns nullptr if the device has no kernel for the op.
  const kernel_def* find_kernel(std::string_view op, device_kind device) const noexcept;
  /// Returns nullptr if the op has no long work, or if this build does not include it.
  work_fn find_work(std::string_view op) const noexcept;
  std::vector<const op_def*> ops() const; ///< sorted by name

private:
  struct second_name;

  status add_second_name(const op_def& op);

  std::map<std::string_view, const op_def*, std::less<>> ops_;
  std::map<std::string_view, std::shared_ptr<const two_phase_op>> two_phase_ops_; // by op name
  std::map<std::string_view, std::shared_ptr<const second_name>> second_names_;   // by first name
  std::map<std::string_view, std::shared_ptr<handle_op>> handle_ops_; // by name of the original op
  std::map<std::pair<std::string_view, device_kind>, const kernel_def*> kernels_;
  std::map<std::string_view, work_fn> work_; // by op name
};

/// Returns the candidates most similar to a mistyped name, best first, at most three.
std::vector<std::string> similar(std::string_view name,
                                 const std::vector<std::string_view>& candidates);
/// Returns `, did you mean 'a' or 'b'?`, or an empty string.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

} // namespace troupe
