/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonDataset: labelled samples, read in distributed batches.
 *
 *  The samples are stored in two IDX files, the format of MNIST: images [samples, height, width]
 *  and labels [samples], both of unsigned bytes. Each rank keeps only the part of the images that
 *  its batches contain. Order and batches do not depend on the number of ranks.
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

/** @brief Opens and checks the two files, on all ranks. Collective on comm.
 *  @param[in]  comm     communicator of the batches
 *  @param[in]  images   path of the images
 *  @param[in]  labels   path of the labels
 *  @param[out] dataset  new dataset; destroy it with TenonDatasetDestroy()
 *  @return TENON_ERR_FILE    a file cannot be read
 *  @return TENON_ERR_FORMAT  a file is truncated, too long or of another format, or the two files
 *                            have different numbers of samples
 */
TENON_EXTERN TenonErrorCode TenonDatasetCreateIDX(MPI_Comm comm, const char* images,
                                                  const char* labels,
                                                  TenonDataset* dataset) TENON_NOEXCEPT;

/** @brief Returns number and extents of the samples. Not collective.
 *  @param[in]  dataset  dataset
 *  @param[out] samples  number of samples. May be NULL, in which case it is not returned.
 *  @param[out] height   height in pixels. May be NULL, in which case it is not returned.
 *  @param[out] width    width in pixels. May be NULL, in which case it is not returned. */
TENON_EXTERN TenonErrorCode TenonDatasetGetShape(TenonDataset dataset, TenonInt* samples,
                                                 TenonInt* height, TenonInt* width) TENON_NOEXCEPT;

/** @brief Sets the value of a pixel p (0 to 255): scale p / 255 + shift. Local; call on all ranks.
 *  @param[in] dataset  dataset
 *  @param[in] scale    factor; 1 by default
 *  @param[in] shift    offset; 0 by default */
TENON_EXTERN TenonErrorCode TenonDatasetSetScaling(TenonDataset dataset, double scale,
                                                   double shift) TENON_NOEXCEPT;

/** @brief Sets whether the order of the samples is random. Local; call on all ranks.
 *  @param[in] dataset  dataset
 *  @param[in] shuffle  TENON_TRUE for a new random order in each epoch; TENON_FALSE for the order
 *                      of the files, the default
 *  @param[in] seed     random seed; the order depends on the seed and the epoch */
TENON_EXTERN TenonErrorCode TenonDatasetSetShuffle(TenonDataset dataset, TenonBool shuffle,
                                                   TenonInt seed) TENON_NOEXCEPT;

/** @brief Sets the layouts of the batches and reads this rank's data. Collective on the dataset.
 *
 *  The call can be repeated with other layouts.
 *
 *  @param[in] dataset  dataset
 *  @param[in] x        layout of the images [batch, 1, height, width], with properties S, B and R
 *                      and without halos
 *  @param[in] labels   layout of the labels [batch], likewise
 *  @return TENON_ERR_SHAPE       the shape of a layout does not match the dataset
 *  @return TENON_ERR_LAYOUT      a layout has partial sums or halos
 *  @return TENON_ERR_COLLECTIVE  ranks pass different layouts
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
 *  @param[out] labels   int64 tensor in the layout of TenonDatasetSetUp()
 *  @return TENON_ERR_STATE     the dataset is not set up
 *  @return TENON_ERR_ARG       there is no such batch, or the epoch is negative
 *  @return TENON_ERR_SHAPE     the shape of a tensor does not match
 *  @return TENON_ERR_LAYOUT    the layout of a tensor does not match
 *  @return TENON_ERR_DATATYPE  the data type of a tensor does not match
 */
TENON_EXTERN TenonErrorCode TenonDatasetGetBatch(TenonDataset dataset, TenonInt epoch,
                                                 TenonInt batch, TenonDTensor x,
                                                 TenonDTensor labels) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] dataset  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonDatasetDestroy(TenonDataset* dataset) TENON_NOEXCEPT;

#endif
