"""EDDI: a partial VAE over features and label, purchases by expected information about y."""

from __future__ import annotations

import numpy as np
import torch
from pydantic import Field

from hyperdfs.config import TableConfig
from hyperdfs.masks import rate_uniform
from hyperdfs.methods.base import Job, Method, Model, Shape
from hyperdfs.nn.arrays import Arrays
from hyperdfs.nn.eddi import PartialVAE
from hyperdfs.predictors.eddi import VAEPredictor
from hyperdfs.selectors.eddi import EDDISelector
from hyperdfs.training.data import Rows
from hyperdfs.training.eddi import PartialELBO, fit_vae, latent_nats, occurring_values
from hyperdfs.training.masked import Recipe
from hyperdfs.training.prices import relative_costs

# Some runs never find a use for the latent, and then predict the same for everybody: a latent
# that says less than SILENT nats about a whole row is trained at a low price for a while.
SILENT, FREE, FREE_EPOCHS = 0.1, 0.1, 20  # nats, weight of the KL term, epochs of that weight
VALUES = 32  # results per feature that a purchase is imagined to have


class EDDIConfig(TableConfig):
    """Configuration of EDDI."""

    n_bins: int | None = Field(0, ge=0)  # the decoder's noise is that of one z-score per number

    width: int = Field(64, ge=1)  # K, of a feature's contribution
    latent: int = Field(10, ge=1)
    encoder_hidden: tuple[int, ...] = (200, 100)
    decoder_hidden: tuple[int, ...] = (50, 100)
    sd: float = Field(0.5, gt=0)  # of a column given the latent
    y_weight: float | None = Field(None, gt=0)  # of y in the bound; None: max(3, M / 10)
    samples: int = Field(50, ge=1)  # of latent, result and label

    epochs: int = Field(200, ge=1)
    lr: float = Field(3e-3, gt=0)
    batch_size: int | None = Field(None, ge=1)
    patience: int = Field(20, ge=1)


AUTHORS = {
    "preprocessing": "paper",
    "class_weight": None,
    "width": 20,
    "encoder_hidden": (500, 200),
    "y_weight": 1.0,
    "lr": 1e-3,
    "batch_size": 100,
}


def build(shape: Shape, config: EDDIConfig, members: int) -> Model:
    vae = PartialVAE(
        column_group=shape.column_group,
        n_features=shape.n_features,
        n_classes=shape.n_classes,
        width=config.width,
        latent=config.latent,
        encoder_hidden=config.encoder_hidden,
        decoder_hidden=config.decoder_hidden,
    )
    fitted = Arrays("values", "distinct", "relative")
    return Model(
        VAEPredictor(vae, latent=config.latent, samples=config.samples),
        EDDISelector(vae, fitted, latent=config.latent, samples=config.samples, sd=config.sd),
        {"vae": vae, "fitted": fitted},
    )


def fit(job: Job, train: Rows, valid: Rows) -> Model:
    config, shape = job.config, job.shape
    generator = job.generator()
    model = job.untrained(build)
    vae, fitted = model.modules["vae"], model.modules["fitted"]
    assert isinstance(vae, PartialVAE)
    assert isinstance(fitted, Arrays)
    sampler = job.sampler(generator, rate_uniform)
    groups = np.asarray(shape.column_group)
    values, distinct = occurring_values(train, groups, VALUES, generator)
    relative = torch.tensor(relative_costs(job.costs), dtype=torch.float32)
    fitted.set("values", values.to(job.device))
    fitted.set("distinct", distinct.to(job.device))
    fitted.set("relative", relative.to(job.device))

    def train_on(stage: str, kl_weight: float, epochs: int) -> None:
        model.history += fit_vae(
            vae,
            train,
            valid,
            PartialELBO(
                vae,
                sampler,
                sd=config.sd,
                y_weight=config.y_weight or max(3.0, shape.n_features / 10),
                latent=config.latent,
                kl_weight=kl_weight,
            ),
            sampler,
            Recipe(
                epochs=epochs,
                lr=config.lr,
                batch_size=config.batch_size,
                patience=config.patience,
            ),
            stage=stage,
            generator=generator,
            progress=job.progress,
        )

    train_on("autoencoder", 1.0, config.epochs)
    if latent_nats(vae, valid) < SILENT:
        train_on("free autoencoder", FREE, FREE_EPOCHS)
        train_on("autoencoder again", 1.0, config.epochs)
    return model


EDDI = Method(
    "eddi",
    "EDDI: partial VAE, expected information about the label",
    build,
    fit,
    config=EDDIConfig,
    presets={"default": {}, "authors": AUTHORS},
    family="single model",
)
