// Helpers of training runs for losses, summaries and checkpoints.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/api/train/checkpoint/saver.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Returns the value of a loss; throws unless it is one number.
double number_in(const tensor& value);
/// Returns true if the steps from `saved_step` to `done` cross a multiple of `interval`.
bool is_checkpoint_due(int64_t saved_step, int64_t done, int64_t interval);
/// Returns a text for each difference between a checkpoint and the graph that was restored from it.
std::vector<std::string> differences_in(const restore_report& report);
/// Returns true if a Summary has a value with this tag.
bool has_tag(const tensor& summary, std::string_view tag);

/// Notes of a checkpoint (saver::add_notes) with the remaining runs of the runners.
inline constexpr std::string_view runs_left_key = "runs_left/";
std::map<std::string, std::string> as_notes(const std::map<std::string, int64_t>& runs_left);
std::map<std::string, int64_t> runs_left_in(const std::map<std::string, std::string>& notes);

} // namespace troupe
