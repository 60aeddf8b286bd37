// What a run says of itself, for TensorBoard: numbers, histograms, images and sounds of its steps,
// and the graph.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// Adds nodes that say something of a step, and one that puts all together: a step that fetches it
/// now and then tells a summary_writer.
///
///     summaries shown;
///     shown.scalar("loss", loss);
///     shown.histogram("weights", w);
///     auto all = shown.merged();
///     // ... in a step of training, now and then
///     to.add(s.fetch(all, feeds), step);
///
/// Tags group what is shown: "layer1/weights". Each function returns the Summary of that alone.
class TROUPE_API summaries {
public:
  using location = std::source_location;

  /// One number, of any real type.
  edge scalar(const std::string& tag, edge value, location where = location::current());
  /// How the elements are distributed. The step fails where one is not finite.
  edge histogram(const std::string& tag, edge values, location where = location::current());
  /// The first `most` of images [batch, height, width, channels], with 1, 3 or 4 channels.
  edge images(const std::string& tag, edge images, int64_t most = 3,
              location where = location::current());
  /// The first `most` of sounds [batch, frames] or [batch, frames, channels], between -1 and 1.
  edge sounds(const std::string& tag, edge sounds, float sample_rate, int64_t most = 3,
              location where = location::current());
  /// Another Summary, made by an op.
  void add(edge summary) { all_.push_back(summary); }

  /// All so far as one Summary. There must be at least one.
  edge merged(location where = location::current()) const;

private:
  std::vector<edge> all_;
};

struct summary_options {
  /// Writes also where another process writes to the folder. Else making the writer throws
  /// already_exists, and names that process.
  bool take_over = false;
};

/// Writes an event file, which TensorBoard shows while it grows: `tensorboard --logdir FOLDER`.
/// Each writer has a file of its own; TensorBoard puts those of a folder together. Those of one
/// process may write to a folder together, those of two may not: their runs would be shown as one.
/// Throws troupe::error, which names the file. Any thread may call.
class TROUPE_API summary_writer {
public:
  using location = std::source_location;

  /// Makes the folder, too.
  explicit summary_writer(const std::string& folder, location where = location::current());
  summary_writer(const std::string& folder, const summary_options& options,
                 location where = location::current());
  summary_writer(summary_writer&&) noexcept;
  summary_writer& operator=(summary_writer&&) noexcept;
  /// Ends the file; what fails then is lost.
  ~summary_writer();

  /// What a step has fetched: a Summary, as a scalar string.
  void add(const tensor& summary, int64_t step, location where = location::current());
  /// A number that is no node's, such as the speed.
  void add(const std::string& tag, float value, int64_t step, location where = location::current());
  void add_graph(const graph& what, location where = location::current());
  /// TensorBoard sees all so far. It does anyway, a second or two after it was added, once more is
  /// added.
  void flush(location where = location::current());
  /// Ends the file and syncs it.
  void close(location where = location::current());

  /// Of the file. After an error of the file system, what is added later goes to another file in
  /// the folder, which TensorBoard reads as well: the first may end within a record.
  const std::string& path() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
