// Summaries of a run for TensorBoard: numbers, histograms, images and sounds of its steps, and the
// graph.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// Adds nodes that summarize a step, and one that merges all summaries. Fetch the merged one in
/// some of the steps and pass it to a summary_writer.
///
///     summaries step_summaries;
///     step_summaries.scalar("loss", loss);
///     step_summaries.histogram("weights", w);
///     auto merged = step_summaries.merged();
///     // ... in some of the training steps
///     writer.add(s.fetch(merged, feeds), step);
///
/// Tags group the summaries: "layer1/weights". Each function returns the Summary of its value
/// alone.
class TROUPE_API summaries {
public:
  using location = std::source_location;

  /// One number, of any real type.
  edge scalar(const std::string& tag, edge value, location where = location::current());
  /// The distribution of the elements. The step fails if an element is not finite.
  edge histogram(const std::string& tag, edge values, location where = location::current());
  /// The first `max_count` of images [batch, height, width, channels], with 1, 3 or 4 channels.
  edge images(const std::string& tag, edge images, int64_t max_count = 3,
              location where = location::current());
  /// The first `max_count` of sounds [batch, frames] or [batch, frames, channels], between -1
  /// and 1.
  edge sounds(const std::string& tag, edge sounds, float sample_rate, int64_t max_count = 3,
              location where = location::current());
  /// Adds a Summary that an op has computed.
  void add(edge summary) { summaries_.push_back(summary); }

  /// Merges all summaries so far. There must be at least one.
  edge merged(location where = location::current()) const;

private:
  std::vector<edge> summaries_;
};

struct summary_options {
  /// Writes even if another process writes to the folder. False: the constructor of the writer
  /// throws already_exists, naming that process.
  bool take_over = false;
};

/// Writes an event file, which TensorBoard shows while it grows: `tensorboard --logdir FOLDER`.
/// Each writer has a file of its own; TensorBoard merges those of a folder. Several writers of one
/// process may share a folder, those of two processes may not: their runs would be shown as one.
/// Throws troupe::error, which names the file. Thread-safe.
class TROUPE_API summary_writer {
public:
  using location = std::source_location;

  /// Creates the folder if it does not exist.
  explicit summary_writer(const std::string& folder, location where = location::current());
  summary_writer(const std::string& folder, const summary_options& options,
                 location where = location::current());
  summary_writer(summary_writer&&) noexcept;
  summary_writer& operator=(summary_writer&&) noexcept;
  /// Closes the file; errors are ignored.
  ~summary_writer();

  /// Adds a Summary that a step has fetched, a scalar string.
  void add(const tensor& summary, int64_t step, location where = location::current());
  /// Adds a number that is not computed by a node, such as the speed.
  void add(const std::string& tag, float value, int64_t step, location where = location::current());
  void add_graph(const graph& model, location where = location::current());
  /// Makes all data so far visible to TensorBoard. This also happens by itself when data is added a
  /// second or two later.
  void flush(location where = location::current());
  /// Closes the file and syncs it.
  void close(location where = location::current());

  /// The path of the file. After an error of the file system, later data goes to another file in
  /// the folder, which TensorBoard reads as well, because the first may end within a record.
  const std::string& path() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
