// The ops and kernels that a program may use. An object made at start and passed down, no global.
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

/// Read-only once filled; then any thread may use it.
class registry {
public:
  registry(); ///< knows the runtime's internal ops only

  /// Fails for a name that is taken and for definitions that contradict themselves. An op with
  /// data-dependent shapes brings its two phases (two_phase_op.hpp), and one on variables that for
  /// handles (handle_op.hpp); one with a second name is there under both, and so are its kernels.
  status add(const op_def& op);
  /// An op comes before its kernels.
  status add(const kernel_def& kernel);
  /// Likewise; the op must be a blocking one.
  status add(const work_def& work);

  /// Fails with not_found, proposing similar names.
  result<const op_def*> find_op(std::string_view name) const;
  /// Returns nullptr where the device has no kernel for the op.
  const kernel_def* find_kernel(std::string_view op, device_kind device) const noexcept;
  /// Returns nullptr for an op that is no long work, or of which this build has none.
  work_fn find_work(std::string_view op) const noexcept;
  std::vector<const op_def*> ops() const; ///< by name

private:
  struct second_name;

  status add_second_name(const op_def& op);

  std::map<std::string_view, const op_def*, std::less<>> ops_;
  std::map<std::string_view, std::shared_ptr<const two_phase_op>> halves_;      // by the op's name
  std::map<std::string_view, std::shared_ptr<const second_name>> second_names_; // by the first
  std::map<std::string_view, std::shared_ptr<handle_op>> handle_ops_; // by the other's name
  std::map<std::pair<std::string_view, device_kind>, const kernel_def*> kernels_;
  std::map<std::string_view, work_fn> work_; // by the op's name
};

/// The candidates most similar to a mistyped name, best first, at most three: "did you mean".
std::vector<std::string> similar(std::string_view name, const std::vector<std::string_view>& among);
/// `, did you mean 'a' or 'b'?`, or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& among);

} // namespace troupe
