// A folder of checkpoints, of which each is complete or invisible (white paper 3.3, OSDI 4.3).
//
//     FOLDER/step-1200/tensors.safetensors
//     FOLDER/step-1200/manifest.json
//     FOLDER/latest                          the name of the newest: "step-1200"
#pragma once
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "troupe/serialization/checkpoint/safetensors.hpp"
#include "troupe/serialization/storage/file_system.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// Which checkpoints stay when newer ones are written.
struct checkpoint_retention {
  int64_t newest = 5;      ///< so many; 0: all
  int64_t every_steps = 0; ///< and one of each so many steps, for good; 0: none
  double every_hours = 0;  ///< and one of each so many hours, for good, by `time_key`; 0: none
  int64_t best = 0;        ///< and so many of the best of those with a metric
  bool lower_is_better = false;
};

/// In which format the tensors of a checkpoint lie in their files. Either has a manifest.
enum class checkpoint_format : uint8_t {
  safetensors,
  tensorflow, ///< model.index and model.data-...: version 2 of its format
};

/// A tensor that is to be saved.
struct checkpoint_item {
  std::string name;
  tensor value;
  std::optional<manifest_slice> slice = {}; ///< where it is a part of a partitioned variable
};

/// What is in a checkpoint. Threads may read at the same time.
class checkpoint_reader {
public:
  /// Opens all its files. `path` is that of the checkpoint itself.
  static result<checkpoint_reader> open(file_system& files, const std::string& path);

  const checkpoint_manifest& manifest() const noexcept { return manifest_; }
  const std::string& path() const noexcept { return path_; }
  /// The type and shape of the whole tensor of a name; nothing for an unknown one.
  std::optional<std::pair<dtype, shape>> find(std::string_view name) const;
  /// Reads a tensor, put together of its slices. Fails with not_found for an unknown name, and with
  /// data_loss, naming the file and the tensor, if its bytes have changed.
  result<tensor> read(std::string_view name, allocator& from = heap_allocator()) const;
  /// Reads a part of it, of those slices that have some of it.
  result<tensor> read_part(std::string_view name, const std::vector<int64_t>& offset,
                           const shape& dims, allocator& from = heap_allocator()) const;
  /// Reads everything and compares all checksums.
  status verify() const;

private:
  std::vector<const manifest_tensor*> parts_of(std::string_view name) const;

  std::string path_;
  checkpoint_manifest manifest_;
  result<tensor> read_entry(const manifest_tensor& one, allocator& from) const;

  std::map<std::string, std::unique_ptr<safetensors_reader>> shards_;
  std::map<std::string, std::unique_ptr<tensor_bundle_reader>> bundles_;
};

/// Writes and finds checkpoints. One at a time may write.
class checkpoint_folder {
public:
  struct info {
    std::string name; ///< "step-1200"
    int64_t step = 0;
  };

  checkpoint_folder(file_system& files, std::string path)
      : files_(&files), path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }
  std::string path_of(const std::string& name) const { return path_in(path_, name); }

  /// What save() gives a complete checkpoint its name in: `guard` calls `act`, or returns why the
  /// checkpoint must not become visible, such as where another process writes here.
  using commit_guard = std::function<status(const std::function<status()>& act)>;
  void commit_within(commit_guard guard) { commit_within_ = std::move(guard); }

  /// Ends the names of drafts with `suffix`: one that no other process uses keeps a writer that has
  /// not noticed yet that another has taken the folder over from writing to a draft of that one.
  void end_drafts_with(std::string suffix) { draft_suffix_ = std::move(suffix); }

  /// Writes a checkpoint: the tensors, synced; the manifest, synced; then it gets its name, then
  /// `latest` names it. After a crash at any moment `latest` means this one or the one before. What
  /// fails leaves nothing behind but what clean() removes. `about` says everything but the tensors.
  /// Returns the name.
  result<std::string> save(checkpoint_manifest about, const std::vector<checkpoint_item>& items,
                           checkpoint_format format = checkpoint_format::safetensors);
  /// The same, where somebody else writes the tensors: `write` is given the folder that becomes the
  /// checkpoint, writes and syncs the files, and says in the manifest what is in them.
  using tensor_writer = std::function<status(const std::string& folder, checkpoint_manifest&)>;
  result<std::string> save(checkpoint_manifest about, const tensor_writer& write);
  /// The complete ones, in the order of their steps.
  result<std::vector<info>> list() const;
  /// The number that a checkpoint's manifest has for that key; nothing where it has none.
  result<std::optional<double>> number_of(const info& one, std::string_view key) const;
  /// The best of those that have a metric, of equal ones the newest; nothing where none has one.
  result<std::optional<info>> best(bool lower_is_better) const;
  /// The name of the newest: the one that `latest` names, or, where that cannot be read, the one
  /// with the highest step. Fails with not_found where there is none.
  result<std::string> latest() const;
  /// Removes checkpoints that need not stay; never the latest. Where one cannot be removed, the
  /// others are all the same, and the error is that of the first.
  status retain(const checkpoint_retention& which);
  /// Removes what a crash has left behind: folders without a manifest, and drafts.
  status clean();

private:
  status write(const std::string& folder, checkpoint_manifest& about,
               const std::vector<checkpoint_item>& items);
  result<std::set<std::string>> find_best(const checkpoint_retention& which,
                                          const std::vector<info>& all) const;
  status remove_folder(const std::string& name);
  status remove_files_and_folder(const std::string& name);

  file_system* files_;
  std::string path_;
  std::string draft_suffix_ = {};
  commit_guard commit_within_ = {};
};

/// What a manifest says of the tensors of a checkpoint of TensorFlow, of which `file` is the index,
/// beside it.
std::vector<manifest_tensor> manifest_entries(const tensor_bundle_reader& of,
                                              const std::string& file);

/// Adds an item to such a checkpoint.
status add_item(tensor_bundle_writer& to, const checkpoint_item& item);

/// The key of the metric among what a manifest says for people (checkpoint_manifest::made).
inline constexpr std::string_view metric_key = "metric";
/// And of the time when it was read, in seconds since 1970.
inline constexpr std::string_view time_key = "time";

/// How all begins in such a folder that is not complete yet, or not there to stay.
inline constexpr std::string_view draft_prefix = "writing-";

/// What those files are called beside the manifest.
inline constexpr std::string_view bundle_name = "model";

} // namespace troupe
