/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonFieldSeries: fields on a grid or a mesh over time, in files that ParaView reads.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  A series has one HDF5 file for each time and one XDMF file for all of them, which ParaView,
 *  VisIt and VTK open (Xdmf Reader). Grids are uniform, in two or three dimensions:
 *
 *      TenonFieldSeriesCreate(comm, "run1/heat", 2, &series);
 *      TenonFieldSeriesAddTensor(series, temperature, "temperature", NULL);
 *      while (...) {
 *        ...
 *        if (step % 10 == 0)
 *          TenonFieldSeriesWrite(series, step, time);        (run1/heat-000010.h5, run1/heat.xmf)
 *      }
 *
 *  Meshes of any shape have cells of one kind and fields on cells and nodes
 *  (TenonFieldSeriesSetMesh()).
 *
 *  All ranks write one file together. It holds global arrays, whatever the distribution of the
 *  tensors, and is a checkpoint file: "tenon checkpoint FILE" verifies it, and
 *  TenonCheckpointRead() reads the tensors back on any number of ranks. Both files are written
 *  under temporary names and renamed: at any moment the XDMF file lists complete files only.
 *  A run that is restarted continues its series.
 *
 *  Settings (tenon/object.h; each is an option -tenon_[prefix_]name too), which may change between
 *  any two times:
 *
 *  - field_center (text, "cell"): where the values are located: "cell", one for each cell, such
 *    that n values span n times the spacing, or "node", one for each grid point. On a mesh the
 *    layout of a field determines this; the setting is used only if the layouts of cells and nodes
 *    are equal.
 *  - field_format (text, "xdmf"): "xdmf", the files above, or "netcdf": one file PATH-STEP.nc for
 *    each time, by the conventions CF and, on a mesh, UGRID (doc/fields.md). Rank 0 writes it, and
 *    the other ranks send it their elements. A file is written under a temporary name and renamed;
 *    after an error the old one remains. TENON_ERR_SUPPORT if Tenon was built without NetCDF
 *  - field_time_units (text, "1"), field_calendar (text, "standard"), field_length_units (text,
 *    "1"): units of the time such as "days since 1850-01-01", its calendar, and units of the
 *    coordinates, in files of the format netcdf
 *  - checkpoint_transport (text, "auto"): which ranks write the files, see tenon/checkpoint.h
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Errors of collective calls are
 *  the same on all ranks, and name the file, the tensor and the reason. If Tenon was built without
 *  HDF5, TenonFieldSeriesCreate() returns TENON_ERR_SUPPORT.
 */
#ifndef TENON_FIELD_SERIES_H
#define TENON_FIELD_SERIES_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Creates a series without fields. Collective on comm.
 *  @param[in]  comm     communicator of the fields
 *  @param[in]  path     path without an ending, such as "run1/heat"; its folder is created, if it
 *                       does not exist, when the first time is written
 *  @param[in]  spatial  number of dimensions of the grid, 2 or 3
 *  @param[out] series   new series; destroy it with TenonFieldSeriesDestroy()
 *  @return TENON_ERR_ARG         spatial is neither 2 nor 3, or the path has no file name, has a
 *                                control character, is not UTF-8, or has the file name "step",
 *                                which files of TenonCheckpointWriteStep() have
 *  @return TENON_ERR_COLLECTIVE  ranks pass different arguments
 *  @return TENON_ERR_SUPPORT     Tenon was built without HDF5
 */
TENON_EXTERN TenonErrorCode TenonFieldSeriesCreate(MPI_Comm comm, const char* path, int spatial,
                                                   TenonFieldSeries* series) TENON_NOEXCEPT;

/** @brief Sets the grid. Local; call on all ranks.
 *  @param[in] series   series
 *  @param[in] spatial  number of dimensions of the grid
 *  @param[in] origin   [spatial] lowest coordinate of each dimension, in the order of the tensors:
 *                      (z,) y, x; 0 by default
 *  @param[in] spacing  [spatial] distance of neighbouring values, in the same order; must be > 0; 1
 *                      by default
 *  @return TENON_ERR_ARG  spatial is not the number of dimensions of the grid, or a number is not
 *                         finite or not positive
 */
TENON_EXTERN TenonErrorCode TenonFieldSeriesSetGrid(TenonFieldSeries series, int spatial,
                                                    const double origin[],
                                                    const double spacing[]) TENON_NOEXCEPT;

/** @brief Sets a mesh in place of the grid. Collective on the series; once, before fields are
 *         added.
 *
 *  Fields are then tensors [cells, components, ...] or [nodes, components, ...] in the layouts
 *  without ghosts of these index maps; the dimensions after the first count the components. Rows
 *  are written in the order of their ids, which makes a file independent of the partition, and are
 *  read back in that order (TenonIndexMapCreateSorted()). The mesh is written once in a run, before
 *  the first time, to the separate file PATH-STEP-mesh.h5 with the step of this time, as the
 *  tensors mesh_places (coordinates) and mesh_corners; the files of the times refer to it.
 *
 *  If nodes is NULL, each cell has corners of its own, and fields can be on cells only. This is for
 *  codes that number cells only; the picture is the same.
 *
 *  @param[in] series       series
 *  @param[in] cells        cells, of TenonIndexMapCreateFromIds(); ghosts are not used
 *  @param[in] shape        "segment", "triangle", "quadrilateral", "tetrahedron", "pyramid",
 *                          "wedge" or "hexahedron", with corners in the order of VTK
 *  @param[in] nodes        nodes, of TenonIndexMapCreateFromIds(); this rank's list must contain
 *                          all corners of its owned cells. May be NULL, in which case cells share
 *                          no corners.
 *  @param[in] corners      number of entries of corner: all corners of the owned cells, or 0
 *                          without nodes
 *  @param[in] corner       [corners] positions in this rank's list of nodes, ghosts included, of
 *                          the corners of each owned cell, counted from 0
 *  @param[in] coordinates  number of entries of places
 *  @param[in] places       [coordinates] (x, y) or (x, y, z), by the spatial dimensions of the
 *                          series, of each owned node, or without nodes of each corner of each
 *                          owned cell
 *  @return TENON_ERR_ARG     there is no such shape, the length of a list does not match cells and
 *                            nodes, or a position is not in the list of nodes
 *  @return TENON_ERR_LAYOUT  a map is not one of TenonIndexMapCreateFromIds()
 *  @return TENON_ERR_STATE   the series has fields or a mesh
 */
TENON_EXTERN TenonErrorCode TenonFieldSeriesSetMesh(TenonFieldSeries series, TenonIndexMap cells,
                                                    const char* shape, TenonIndexMap nodes,
                                                    TenonInt corners, const TenonInt corner[],
                                                    TenonInt coordinates,
                                                    const double places[]) TENON_NOEXCEPT;

/** @brief Adds a field. Local; call on all ranks.
 *
 *  The last dimensions of the tensor are the dimensions of the grid, with the same extents for all
 *  fields. The dimensions before them (batch, channel) count the components. The owned elements are
 *  written, without the halo; user arrays of any strides are written in place.
 *
 *  @param[in] series      series, which keeps a reference to the tensor
 *  @param[in] tensor      tensor of any type, with properties S, B and R
 *  @param[in] name        name of the field, a word without a slash
 *  @param[in] components  names of the components, with commas between: "u,v". May be NULL, in
 *                         which case they are name_0, name_1, ..., or name if there is only one.
 *  @return TENON_ERR_ARG     the name is taken or not usable, the tensor is on another
 *                            communicator, or components has another number of names
 *  @return TENON_ERR_SHAPE   the tensor has fewer dimensions than the grid, or other extents than
 *                            the fields before it
 *  @return TENON_ERR_LAYOUT  the tensor holds partial sums, its halo has a negative width, or it is
 *                            not on the series' mesh
 */
TENON_EXTERN TenonErrorCode TenonFieldSeriesAddTensor(TenonFieldSeries series, TenonDTensor tensor,
                                                      const char* name,
                                                      const char* components) TENON_NOEXCEPT;

/** @brief Writes the fields of one time. Collective on the series.
 *
 *  Writes the file PATH-STEP.h5 and rewrites PATH.xmf. The first call of a program finds the files
 *  of earlier steps in the folder and lists them as well. Files of this step and of later steps are
 *  those of an interrupted run: they are not listed, and are replaced when the run reaches these
 *  steps again.
 *
 *  @param[in] series  series
 *  @param[in] step    number of the time step; must be >= 0, and greater than the step of the
 *                     previous call
 *  @param[in] time    time in the units of the program
 *  @return TENON_ERR_ARG    the step is negative or not greater than the last one, the time is not
 *                           finite, or there is no field
 *  @return TENON_ERR_FILE   a file cannot be written: no permission, a full disk
 */
TENON_EXTERN TenonErrorCode TenonFieldSeriesWrite(TenonFieldSeries series, TenonInt step,
                                                  double time) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] series  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonFieldSeriesDestroy(TenonFieldSeries* series) TENON_NOEXCEPT;

#endif
