/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonDataset: samples, read in distributed batches.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  Samples are read from HDF5 and NetCDF files. They can have any shape, for example volumes, and
 *  labels or target fields. Each rank reads its box of each sample of a batch, so neither the file
 *  nor a sample needs to fit into the memory of a rank. A program with samples in other files fills
 *  tensors itself, as the tutorial lenet5 does with the files of MNIST.
 *
 *  Attributes of a variable have their meaning in NetCDF and CF, in files of both formats:
 *  scale_factor and add_offset unpack its numbers, "_Unsigned" reads them as unsigned ones, and
 *  _FillValue, missing_value, valid_min, valid_max and valid_range tell which values are missing.
 *  In NetCDF files, so does the default fill value of the type, except for bytes. A batch with a
 *  missing value is an error unless the setting fill_missing gives the number that it gets;
 *  TenonDatasetGetMasks() tells where values are missing.
 *
 *  Order and batches do not depend on the number of ranks.
 *
 *  Settings (tenon/object.h; each is an option -tenon_[prefix_]name too), which may change between
 *  any two batches:
 *
 *  | setting          | kind | default | meaning                                                  |
 *  | ---------------- | ---- | ------- | -------------------------------------------------------- |
 *  | shuffle          | bool | false   | a new random order of the samples in each epoch, instead |
 *  |                  |      |         | of the order of the files                                |
 *  | shuffle_seed     | int  | 0       | the order depends on the seed and the epoch              |
 *  | sample_scale     | real | 1       | factor of all numbers of the samples; labels are not     |
 *  |                  |      |         | changed                                                  |
 *  | sample_shift     | real | 0       | added to the numbers of the samples after scaling        |
 *  | fill_missing     | text | refuse  | the number that missing values get in samples, after     |
 *  |                  |      |         | scaling, and in labels; or refuse: they are an error     |
 *  | dataset_prefetch | bool | false   | a thread reads the next batch while the program computes |
 *
 *  The thread of dataset_prefetch calls pread() only, and no function of HDF5, NetCDF or MPI. It
 *  reads contiguous datasets of float32, float64 or, for labels, int64 in the byte order of this
 *  machine, of a single HDF5 or NetCDF-4 file. Datasets that are chunked or compressed or have
 *  other numbers, series of files, and NetCDF files of the classic formats are read when the batch
 *  is requested, as without dataset_prefetch.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Errors of collective calls are
 *  the same on all ranks.
 */
#ifndef TENON_DATASET_H
#define TENON_DATASET_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Opens and checks datasets of HDF5 or NetCDF files, on all ranks. Collective on comm.
 *
 *  The format is recognised by the contents of the file: HDF5, NetCDF-4, or, if Tenon was built
 *  with NetCDF, the classic formats CDF-1, CDF-2 and CDF-5. The first dimension of a dataset
 *  (NetCDF: variable) counts the samples; a sample has the others. Numbers of any type and byte
 *  order are read, from contiguous, chunked and compressed datasets.
 *
 *  The path can be a pattern with * ? or [ ]. All files that match are one dataset, in which their
 *  samples follow each other. They are ordered by the coordinate along the first dimension, such as
 *  time, if it has the same units in all files, and by name otherwise. The coordinate must increase
 *  from file to file; without one, the first dimension must be unlimited. Each file has its own
 *  packing.
 *
 *  The library of the format reads the file; unlike a checkpoint, it is not verified by digests.
 *  The older file formats of HDF5, which h5py and HDF5 write by default, have no checksums of their
 *  metadata: a damaged file can return wrong samples, or crash the HDF5 library and with it the
 *  program. `h5repack -L old.h5 new.h5` writes a format with checksums. Classic NetCDF files that
 *  are truncated are detected.
 *
 *  @param[in]  comm     communicator of the batches
 *  @param[in]  path     path of the file, or a pattern that matches several
 *  @param[in]  data     dataset of the samples in the file, such as "/fields/velocity"
 *  @param[in]  labels   dataset of their labels, or of target fields, in the same files. May be
 *                       NULL, in which case there are none.
 *  @param[out] dataset  new dataset; destroy it with TenonDatasetDestroy()
 *  @return TENON_ERR_FILE     a file cannot be read, or no file matches the pattern
 *  @return TENON_ERR_FORMAT   a file has another format, is damaged, has no such dataset, or a
 *                             dataset without numbers, data and labels have different numbers of
 *                             samples, or the files do not continue each other
 *  @return TENON_ERR_SUPPORT  Tenon was built without HDF5 or, for the classic formats of NetCDF,
 *                             without NetCDF
 */
TENON_EXTERN TenonErrorCode TenonDatasetCreateHDF5(MPI_Comm comm, const char* path,
                                                   const char* data, const char* labels,
                                                   TenonDataset* dataset) TENON_NOEXCEPT;

/** @brief Returns the shape of the samples. Not collective.
 *  @param[in]  dataset  dataset
 *  @param[in]  length   length of the array shape
 *  @param[out] shape    [length] number of samples, then the extents of a sample, which are also
 *                       the extents of a batch after the first. May be NULL, in which case only
 *                       ndim is returned.
 *  @param[out] ndim     number of dimensions. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the shape does not fit */
TENON_EXTERN TenonErrorCode TenonDatasetGetShape(TenonDataset dataset, TenonInt length,
                                                 TenonInt shape[], int* ndim) TENON_NOEXCEPT;

/** @brief Sets the layouts of the batches. Collective on the dataset.
 *
 *  The call can be repeated with other layouts.
 *
 *  @param[in] dataset  dataset
 *  @param[in] x        layout of the samples, [batch, ...] with the extents of a sample, properties
 *                      S, B and R, and no halos
 *  @param[in] labels   layout of the labels, [batch], or [batch, ...] if a label has dimensions,
 *                      with the same restrictions. May be NULL, in which case batches have no
 *                      labels.
 *  @return TENON_ERR_SHAPE       the shape of a layout does not match the dataset
 *  @return TENON_ERR_LAYOUT      a layout has partial sums or halos
 *  @return TENON_ERR_ARG         labels is not NULL, but the dataset has no labels
 *  @return TENON_ERR_COLLECTIVE  ranks pass different layouts, or have different settings
 */
TENON_EXTERN TenonErrorCode TenonDatasetSetUp(TenonDataset dataset, TenonLayout x,
                                              TenonLayout labels) TENON_NOEXCEPT;

/** @brief Returns the number of complete batches in an epoch. Not collective.
 *
 *  The remaining samples of the epoch are not used.
 *
 *  @param[in]  dataset  dataset that is set up
 *  @param[out] count    number of batches
 *  @return TENON_ERR_STATE  the dataset is not set up
 */
TENON_EXTERN TenonErrorCode TenonDatasetGetBatchCount(TenonDataset dataset,
                                                      TenonInt* count) TENON_NOEXCEPT;

/** @brief Fills this rank's local block of a batch. Local; call on all ranks.
 *  @param[in]  dataset  dataset that is set up
 *  @param[in]  epoch    epoch; must be >= 0; selects the order if samples are shuffled
 *  @param[in]  batch    index of the batch, counted from 0
 *  @param[out] x        float32 or float64 tensor in the layout of TenonDatasetSetUp()
 *  @param[out] labels   tensor in the layout of TenonDatasetSetUp(): int64 or int32 if the labels
 *                       in the file are integers, otherwise float32 or float64. May be NULL, in
 *                       which case the labels are not read.
 *  @return TENON_ERR_STATE     the dataset is not set up, or was set up without labels
 *  @return TENON_ERR_ARG       there is no such batch, or the epoch is negative
 *  @return TENON_ERR_SHAPE     the shape of a tensor does not match
 *  @return TENON_ERR_LAYOUT    the layout of a tensor does not match
 *  @return TENON_ERR_DATATYPE  the data type of a tensor does not match
 *  @return TENON_ERR_FILE      a file cannot be read any more
 *  @return TENON_ERR_FORMAT    data of a file are damaged, a label does not fit into int32, or a
 *                              value of the batch is missing and fill_missing is refuse; the
 *                              message has its indices
 */
TENON_EXTERN TenonErrorCode TenonDatasetGetBatch(TenonDataset dataset, TenonInt epoch,
                                                 TenonInt batch, TenonDTensor x,
                                                 TenonDTensor labels) TENON_NOEXCEPT;

/** @brief Tells which values of this rank's local block of a batch are missing in the files. Local.
 *
 *  A mask is 1 where the batch has a value of the file, and 0 where the value is missing. It is a
 *  further input of a network, the weights of a loss with loss_weights element
 *  (TenonLayerSetTargetWeights()), or a factor in a layer of type multiply. Calls after
 *  TenonDatasetGetBatch() for the same batch do not read it again.
 *
 *  @param[in]  dataset  dataset that is set up
 *  @param[in]  epoch    epoch, as for TenonDatasetGetBatch()
 *  @param[in]  batch    index of the batch, counted from 0
 *  @param[out] x        float32 or float64 tensor in the layout of the samples. May be NULL, in
 *                       which case their mask is not returned.
 *  @param[out] labels   float32 or float64 tensor in the layout of the labels, also if these are
 *                       integers. May be NULL, in which case their mask is not returned.
 *  @return TENON_ERR_STATE     the dataset is not set up, or was set up without labels
 *  @return TENON_ERR_ARG       there is no such batch, or the epoch is negative
 *  @return TENON_ERR_SHAPE     the shape of a tensor does not match
 *  @return TENON_ERR_LAYOUT    the layout of a tensor does not match
 *  @return TENON_ERR_DATATYPE  a tensor has integers
 *  @return TENON_ERR_FILE      a file cannot be read any more
 *  @return TENON_ERR_FORMAT    data of a file are damaged
 */
TENON_EXTERN TenonErrorCode TenonDatasetGetMasks(TenonDataset dataset, TenonInt epoch,
                                                 TenonInt batch, TenonDTensor x,
                                                 TenonDTensor labels) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] dataset  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonDatasetDestroy(TenonDataset* dataset) TENON_NOEXCEPT;

#endif
