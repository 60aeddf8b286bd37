// A folder of checkpoints, of which each is complete or invisible (white paper 3.3, OSDI 4.3).
//
//     FOLDER/step-1200/tensors.safetensors
//     FOLDER/step-1200/manifest.json
//     FOLDER/latest                          the name of the newest: "step-1200"
#pragma once
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "troupe/serialization/checkpoint/safetensors.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// Which checkpoints stay when newer ones are written.
struct checkpoint_retention {
  int64_t newest = 5;      ///< so many; 0: all
  int64_t every_steps = 0; ///< and one of each so many steps, for good; 0: none
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
  std::map<std::string, std::unique_ptr<safetensors_reader>> shards_;
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

  /// Writes a checkpoint: the tensors, synced; the manifest, synced; then it gets its name, then
  /// `latest` names it. After a crash at any moment `latest` means this one or the one before. What
  /// fails leaves nothing behind but what clean() removes. `about` says everything but the tensors.
  /// Returns the name.
  result<std::string> save(checkpoint_manifest about, const std::vector<checkpoint_item>& items);
  /// The complete ones, in the order of their steps.
  result<std::vector<info>> list() const;
  /// The name of the newest: the one that `latest` names, or, where that cannot be read, the one
  /// with the highest step. Fails with not_found where there is none.
  result<std::string> latest() const;
  /// Removes checkpoints that need not stay; never the latest.
  status retain(const checkpoint_retention& which);
  /// Removes what a crash has left behind.
  status clean();

private:
  status make_folder();
  status write(const std::string& folder, checkpoint_manifest about,
               const std::vector<checkpoint_item>& items);
  status remove_folder(const std::string& name);

  file_system* files_;
  std::string path_;
  std::vector<std::string> unsynced_; // folders in which one on the way to ours was made
};

} // namespace troupe
