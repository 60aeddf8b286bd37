// What a training run reads in errors, losses, summaries and checkpoints.
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

/// A loss; throws unless it is one number.
double number_in(const tensor& value);
/// Whether steps cross a multiple of `by` between those two counts of them.
bool is_checkpoint_due(int64_t saved_step, int64_t done, int64_t by);
/// A text for each difference between a checkpoint and the graph that was restored from it.
std::vector<std::string> differences_in(const restore_report& report);
/// Whether a Summary has a value of that tag.
bool has_tag(const tensor& summary, std::string_view tag);

/// Notes of a checkpoint (saver::also_note) that say how many runs runners have left.
inline constexpr std::string_view runs_left_key = "runs_left/";
std::map<std::string, std::string> as_notes(const std::map<std::string, int64_t>& runs_left);
std::map<std::string, int64_t> runs_left_in(const std::map<std::string, std::string>& notes);

} // namespace troupe
