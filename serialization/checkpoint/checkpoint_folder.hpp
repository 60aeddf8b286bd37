// A folder of checkpoints, each of which is complete or invisible (white paper 3.3, OSDI 4.3).
//
//     FOLDER/step-1200/tensors.safetensors
//     FOLDER/step-1200/manifest.json
//     FOLDER/latest                          the name of the newest checkpoint: "step-1200"
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

/// Which checkpoints are retained when newer ones are written.
struct checkpoint_retention {
  int64_t newest = 5;      ///< the number of newest ones; 0: all
  int64_t every_steps = 0; ///< also one every N steps, permanently; 0: none
  double every_hours = 0;  ///< also one every N hours, permanently, by `time_key`; 0: none
  int64_t best = 0;        ///< also the N best ones with a metric
  bool lower_is_better = false;
};

/// The format of the tensor files of a checkpoint. Both formats have a manifest.
enum class checkpoint_format : uint8_t {
  safetensors,
  tensorflow, ///< model.index and model.data-...: version 2 of TensorFlow's format
};

/// A tensor to save.
struct checkpoint_item {
  std::string name;
  tensor value;
  std::optional<manifest_slice> slice = {}; ///< if it is a part of a partitioned variable
};

/// Reads a checkpoint. Threads may read concurrently.
class checkpoint_reader {
public:
  /// Opens all files of the checkpoint at `path`.
  static result<checkpoint_reader> open(file_system& files, const std::string& path);

  const checkpoint_manifest& manifest() const noexcept { return manifest_; }
  const std::string& path() const noexcept { return path_; }
  /// The type and shape of the whole tensor; nullopt for an unknown name.
  std::optional<std::pair<dtype, shape>> find(std::string_view name) const;
  /// Reads a tensor, joined from its slices. Fails with not_found for an unknown name, and with
  /// data_loss, naming the file and the tensor, if its bytes have changed.
  result<tensor> read(std::string_view name, allocator& memory = heap_allocator()) const;
  /// Reads a part of a tensor, from the slices that overlap it.
  result<tensor> read_part(std::string_view name, const std::vector<int64_t>& offset,
                           const shape& dims, allocator& memory = heap_allocator()) const;
  /// Reads all tensors and compares all checksums.
  status verify() const;

private:
  std::vector<const manifest_tensor*> parts_of(std::string_view name) const;

  std::string path_;
  checkpoint_manifest manifest_;
  result<tensor> read_entry(const manifest_tensor& entry, allocator& memory) const;

  std::map<std::string, std::unique_ptr<safetensors_reader>> shards_;
  std::map<std::string, std::unique_ptr<tensor_bundle_reader>> bundles_;
};

/// Writes and finds checkpoints. Writes must not overlap.
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

  /// Wraps the rename by which save() makes a checkpoint visible. The guard calls `act`, or returns
  /// why the checkpoint must not become visible, for instance because another process writes here.
  using commit_guard = std::function<status(const std::function<status()>& act)>;
  void set_commit_guard(commit_guard guard) { commit_guard_ = std::move(guard); }

  /// Ends the names of drafts with `suffix`. A suffix that no other process uses prevents a writer
  /// that has lost the folder to another process, and has not detected it yet, from writing to the
  /// draft of that process.
  void set_draft_suffix(std::string suffix) { draft_suffix_ = std::move(suffix); }

  /// Writes a checkpoint: the tensors, synced; the manifest, synced; then renames the draft, then
  /// updates `latest`. After a crash at any time, `latest` names this checkpoint or the previous
  /// one. A failed save leaves only files that clean() removes. `manifest` has all fields but the
  /// tensors. Returns the checkpoint's name.
  result<std::string> save(checkpoint_manifest manifest, const std::vector<checkpoint_item>& items,
                           checkpoint_format format = checkpoint_format::safetensors);
  /// Saves tensors that a callback writes: `write` gets the draft folder, writes and syncs the
  /// files, and adds their tensors to the manifest.
  using tensor_writer = std::function<status(const std::string& folder, checkpoint_manifest&)>;
  result<std::string> save(checkpoint_manifest manifest, const tensor_writer& write);
  /// The complete checkpoints, in the order of their steps.
  result<std::vector<info>> list() const;
  /// The number under a key of a checkpoint's manifest; nullopt if it has none.
  result<std::optional<double>> number_of(const info& checkpoint, std::string_view key) const;
  /// The best checkpoint with a metric, the newest among equal ones; nullopt if none has a metric.
  result<std::optional<info>> best(bool lower_is_better) const;
  /// The name of the newest checkpoint: the one in `latest`, or, if that cannot be read or names no
  /// complete checkpoint, the one with the highest step. Fails with not_found if there is none.
  result<std::string> latest() const;
  /// Removes checkpoints that are not retained; never the latest. Checkpoints of higher steps than
  /// the latest, which are of an earlier run, count as older. If one cannot be removed, the others
  /// are removed nevertheless, and the first error is returned. Removes none if `latest` exists but
  /// cannot be read.
  status retain(const checkpoint_retention& retention);
  /// Removes the remains of crashes: folders without a manifest, and drafts.
  status clean();

private:
  status write(const std::string& folder, checkpoint_manifest& manifest,
               const std::vector<checkpoint_item>& items);
  result<std::set<std::string>> find_best(const checkpoint_retention& retention,
                                          const std::vector<info>& complete) const;
  status remove_folder(const std::string& name);
  status remove_files_and_folder(const std::string& name);

  file_system* files_;
  std::string path_;
  std::string draft_suffix_ = {};
  commit_guard commit_guard_ = {};
};

/// The manifest's entries for the tensors of a checkpoint in TensorFlow's format, whose index is
/// `file`, beside the manifest.
std::vector<manifest_tensor> manifest_entries(const tensor_bundle_reader& bundle,
                                              const std::string& file);

/// Adds an item to a checkpoint in TensorFlow's format.
status add_item(tensor_bundle_writer& writer, const checkpoint_item& item);

/// The key of the metric in the manifest's informative texts (checkpoint_manifest::description).
inline constexpr std::string_view metric_key = "metric";
/// The key of the time when the metric was read, in seconds since 1970.
inline constexpr std::string_view time_key = "time";

/// The prefix of files and folders that are not complete yet.
inline constexpr std::string_view draft_prefix = "writing-";

/// The prefix of the files in TensorFlow's format, beside the manifest.
inline constexpr std::string_view bundle_name = "model";

} // namespace troupe
